package plane

import (
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// ReadOnly returns fields that only the target may set (section 2), with values that it would never choose.
func ReadOnly() map[string]any {
	return map[string]any{
		"id":                 "11111111-2222-4333-8444-555555555555",
		"latest_revision_id": "66666666-7777-4888-9999-aaaaaaaaaaaa",
		"created_at":         "1999-12-31T23:59:59Z",
		"updated_at":         "1999-12-31T23:59:59Z",
		"status":             "SKIPPED", // which the first and only revision of a deployment never is
	}
}

// ReadOnlyCommit is a commit id that no source has.
const ReadOnlyCommit = "0123456789abcdef0123456789abcdef01234567"

// WithMistake is an invalid create body, by the name that the features give the mistake.
func (s Sources) WithMistake(mistake, name string) []byte {
	body := s.Body(name, nil)
	switch mistake {
	case "no source":
		delete(body, "source")
	case "an unknown source":
		body["source"] = "no_such_source"
	case "a number as source":
		body["source"] = 7
	default:
		return WrongBody(mistake, body, s.Field())
	}
	return target.Encode(body)
}

// WrongBody makes one of the mistakes that creations and updates share.
func WrongBody(mistake string, body map[string]any, field string) []byte {
	switch mistake {
	case "an array as source_config":
		body["source_config"] = []any{"build_on_push"}
	case "a string as source_revision_config":
		body["source_revision_config"] = "main"
	case "a number as repo_ref or image_uri":
		config := CloneObject(Asked(body))
		config[field] = 7
		body["source_revision_config"] = config
	case "an array in place of the object":
		return target.Encode([]any{body})
	case "a string in place of the object":
		return target.Encode("deployment")
	case "a body that is not valid JSON":
		return []byte(`{"source": `)
	case "no body":
		return []byte{}
	}
	return target.Encode(body)
}

// ReadOnlyIgnored finds a read-only value of ours in what the target shows.
func ReadOnlyIgnored(answers []*client.Answer) error {
	sent := ReadOnly()
	for _, a := range answers {
		for _, field := range []string{"id", "latest_revision_id", "created_at", "updated_at", "status"} {
			if got := a.Get(field); got.String() == sent[field] {
				return outcome.Violated(a, "a "+field+" other than that of the request", "the value of the request, %s", outcome.Shown(got)).At("/" + field)
			}
		}
		if got := a.Get("source_revision_config.repo_commit_sha"); got.String() == ReadOnlyCommit {
			return outcome.Violated(a, "a repo_commit_sha other than that of the request", "the value of the request, %s", outcome.Shown(got)).At("/source_revision_config/repo_commit_sha")
		}
	}
	return nil
}
