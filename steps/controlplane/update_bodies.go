package controlplane

import (
	"strings"

	"github.com/agentconform/agentconform/steps/plane"
)

// validUpdate returns an update that sets no field of the source, as the features name it, or nil.
func validUpdate(what string) map[string]any {
	switch what {
	case "an empty object":
		return map[string]any{}
	case "build_on_push alone":
		return map[string]any{"source_config": map[string]any{"build_on_push": false}}
	case "build_on_push true":
		return map[string]any{"source_config": map[string]any{"build_on_push": true}}
	case "an empty source_config":
		return map[string]any{"source_config": map[string]any{}}
	case "an empty source_revision_config":
		return plane.SourceUpdate(map[string]any{})
	case "the three source fields null":
		return plane.SourceUpdate(map[string]any{"repo_ref": nil, "graph_config_path": nil, "image_uri": nil})
	}
	if field, isNull := strings.CutSuffix(what, " null"); isNull {
		return plane.SourceUpdate(map[string]any{field: nil})
	}
	return nil
}

// undefinedUpdate returns an update that the interface does not define, so that a server may refuse it, or nil.
func undefinedUpdate(what string) map[string]any {
	unknown := map[string]any{"conformance_note": "agentconform"}
	switch what {
	case "null as its source_config":
		return map[string]any{"source_config": nil}
	case "an unknown member":
		return unknown
	case "an unknown member of source_config":
		return map[string]any{"source_config": unknown}
	case "an unknown member of source_revision_config":
		return plane.SourceUpdate(unknown)
	}
	return nil
}
