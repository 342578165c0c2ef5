package plane_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/plane"
)

type object = map[string]any

func TestChanged(t *testing.T) {
	absent := object{"source_config": object{"build_on_push": nil}, "source_revision_config": object{"repo_ref": "v1"}}
	revision := object{"repo_ref": "v1"}
	for name, body := range map[string]struct{ before, after object }{
		"delete a value": {object{"source_config": object{"build_on_push": true, "x": 1}},
			object{"source_config": object{"x": 1}, "source_revision_config": revision}},
		"delete the last value": {object{"source_config": object{"build_on_push": true}},
			object{"source_config": object{}, "source_revision_config": revision}},
		"delete from an object that does not exist": {object{}, object{"source_revision_config": revision}},
		"delete from null": {object{"source_config": nil},
			object{"source_config": nil, "source_revision_config": revision}},
	} {
		assert.Equal(t, body.after, plane.Changed(body.before, absent), name)
	}
}
