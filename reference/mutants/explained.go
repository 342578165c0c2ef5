package mutants

import "regexp"

// controls are mutants that the suite must kill, at least one of each group. They show that the group is really tried.
var controls = map[string]bool{
	"get-deployment/answer/id/another":          true,
	"get-state/answer/values/dropped":           true,
	"list-revisions/query/limit/ignored":        true,
	"get-deployment/path/deployment_id/foreign": true,
	"create-run/request/input.messages/foreign": true,
	"get-revision/access/anonymous":             true,
	"get-state/access/others":                   true,
}

// explained says for which mutants the interface allows what they do. The first pattern that fits counts.
var explained = []struct {
	names *regexp.Regexp
	why   string
}{
	{names(`create-deployment/answer/(source|source_config|source_revision_config)(\.\w+)?/dropped|create-deployment/answer/source_revision_config\.\w+/null`),
		"the answer to a creation has the ids; nothing says that it has more (section 4)"},
	{names(`create-deployment/answer/(source_config|source_revision_config)/(another|sometimes)`),
		"the answer to a creation has the ids; nothing says that its objects have members (section 4)"},
	{names(`create-deployment/answer/source_config(\.build_on_push)?/(dropped|another|sometimes|foreign)|create-deployment/answer/source_config\.build_on_push/null|` +
		`get-deployment/answer/(source_config/(dropped|another|sometimes)|source_config\.build_on_push/(dropped|null))`),
		"nothing says that a deployment shows build_on_push, and a server may have it false whatever was asked for (section 2)"},
	{names(`get-deployment/answer/source_revision_config\.repo_commit_sha/(dropped|null)`),
		"the commit id is known only after a while, and nothing says after which (section 2)"},
	{names(`(create|update)-deployment/request/source_revision_config\.repo_commit_sha/\w+`),
		"repo_commit_sha is read-only: what a client sends is refused or ignored (section 2)"},
	{names(`update-deployment/request/source_config\.build_on_push/another`),
		"a server may have build_on_push false whatever was asked for (section 2)"},
	{names(`list-revisions/refusal/detail\.\*\.(msg|type)/(another|foreign|sometimes)`),
		"the texts of an error are the server's own; its loc names the parameter (section 7)"},
	{names(`get-revision/refusal/detail/(another|sometimes)`), "its text is the server's own (section 7)"},
	{names(`(list-revisions/answer/resources\.\*\.|get-revision/answer/)updated_at/(another|foreign|late|stale|sometimes)`),
		"nothing says what changes updated_at (section 2)"},
	{names(`list-revisions/answer/(offset|resources|resources\.\*\.status)/late|get-revision/answer/status/late`),
		"nothing says how soon after a write a read shows it (section 4)"},
	{names(`search-threads/request/((ids|limit|metadata|offset)/(ignored|null)|(limit|metadata)/another)`),
		"the interface only says that threads can be searched: what a search takes is the server's own (section 4)"},
	{names(`list-revisions/query/offset/zero-is-absent`), "0 is the default of offset (section 4)"},
}

func names(pattern string) *regexp.Regexp { return regexp.MustCompile(`^(` + pattern + `)$`) }

// allowed says why the interface lets a server answer like the mutant; empty where it does not.
func allowed(name string) string {
	for _, e := range explained {
		if e.names.MatchString(name) {
			return e.why
		}
	}
	return ""
}
