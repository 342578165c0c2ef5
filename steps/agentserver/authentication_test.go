package agentserver

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnlike(t *testing.T) {
	for id, want := range map[string]string{
		"86c82b35-0e72-44b1-91fa-4a4d91cd9f90": "86c82b35-0e72-44b1-91fa-4a4d46fa4c45",
		"9000012":                              "4555567",
		"th:zzz":                               "th:zzzth:zzz",
		"01M7YVXTMSRZE4FYMXHZE4XH38":           "01M7YVXTMSRZE4FYMXHZB9XH83",
	} {
		assert.Equal(t, want, unlike(id))
	}
}
