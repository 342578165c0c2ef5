package mutants

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

// allowed says why the interface lets a server answer like the mutant, empty where it does not.
func allowed(name string) string { return explained[name] }

var explained = map[string]string{}
