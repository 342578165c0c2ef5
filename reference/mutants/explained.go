package mutants

import "regexp"

// controls are mutants that the suite must kill, at least one of each group. They show that the group was tried.
var controls = map[string]bool{
	"get-deployment/answer/id/another":          true,
	"get-state/answer/values/dropped":           true,
	"list-revisions/query/limit/ignored":        true,
	"get-deployment/path/deployment_id/foreign": true,
	"create-run/request/input.messages/foreign": true,
	"get-revision/access/anonymous":             true,
	"get-state/access/others":                   true,
}

// explained lists the mutants that the interface allows, with the reason. The first matching pattern counts.
var explained = []struct {
	names *regexp.Regexp
	why   string
}{
	{names(`create-deployment/answer/(source|source_config|source_revision_config)(\.\w+)?/dropped|create-deployment/answer/source_revision_config\.\w+/null`),
		"the response to a creation has the IDs; the interface requires no other members (section 4)"},
	{names(`create-deployment/answer/(source_config|source_revision_config)/(another|sometimes)`),
		"the response to a creation has the IDs; the interface does not require members of its objects (section 4)"},
	{names(`create-deployment/answer/source_config(\.build_on_push)?/(dropped|another|sometimes|foreign)|create-deployment/answer/source_config\.build_on_push/null|` +
		`get-deployment/answer/(source_config/(dropped|another|sometimes)|source_config\.build_on_push/(dropped|null))`),
		"a deployment need not show build_on_push, and a server may set it to false for any request (section 2)"},
	{names(`get-deployment/answer/source_revision_config\.repo_commit_sha/(dropped|null)`),
		"the commit ID is known only after an unspecified time (section 2)"},
	{names(`(create|update)-deployment/request/source_revision_config\.repo_commit_sha/\w+`),
		"repo_commit_sha is read-only: a server refuses or ignores the value of a client (section 2)"},
	{names(`update-deployment/request/source_config\.build_on_push/another`),
		"a server may set build_on_push to false for any request (section 2)"},
	{names(`list-revisions/refusal/detail\.\*\.(msg|type)/(another|foreign|sometimes)`),
		"the server chooses the texts of an error; loc names the parameter (section 7)"},
	{names(`get-revision/refusal/detail/(another|sometimes)`), "the server chooses the text (section 7)"},
	{names(`(list-revisions/answer/resources\.\*\.|get-revision/answer/)updated_at/(another|foreign|late|stale|sometimes)`),
		"the interface does not specify when updated_at changes (section 2)"},
	{names(`list-revisions/answer/(offset|resources|resources\.\*\.status)/late|get-revision/answer/status/late`),
		"the interface does not specify how soon a read shows a write (section 4)"},
	{names(`search-threads/request/((ids|limit|metadata|offset)/(ignored|null)|(limit|metadata)/another)`),
		"the interface only requires that threads can be searched: the server chooses the filters (section 4)"},
	{names(`list-revisions/query/offset/zero-is-absent`), "0 is the default of offset (section 4)"},
}

// names compiles a pattern that matches whole names.
func names(pattern string) *regexp.Regexp { return regexp.MustCompile(`^(` + pattern + `)$`) }

// allowed returns the reason why the interface allows a mutant, or "" if it does not.
func allowed(name string) string {
	for _, e := range explained {
		if e.names.MatchString(name) {
			return e.why
		}
	}
	return ""
}
