package script

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

var (
	needed = regexp.MustCompile(`AGENTCONFORM_[A-Z0-9_]+`)
	// keys has the parts of a variable's name that are parts of the key.
	keys = regexp.MustCompile(`^(credentials|other_tenant|users_\d+|agent|headers|create_body|create_refused)_(studio_headers_|headers_|control_plane_|agent_server_|secrets_)?(.+)$`)
)

// Command runs a script of a finding of r with the secrets of the configuration in its environment.
func Command(r *reports.Result, path string) string {
	return "agentconform exec" + r.Run.Flags("--config", "--env") + " -- bash " + reports.ShellWord(path)
}

// needs are the lines that end a script at once where a variable is not set that its steps expand. They say which key of the configuration
// has its value: only that is known here, a secret never is.
func needs(r *reports.Result, steps string) string {
	var names []string
	for _, expanded := range secretNames.FindAllString(steps, -1) {
		names = append(names, needed.FindString(expanded))
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range slices.Compact(names) {
		fmt.Fprintf(&b, "need %s %s\n", name, quote(keyOf(name)))
	}
	fmt.Fprintf(&b, "needed %s\n", quote(word("agentconform exec"+r.Run.Flags("--config", "--env"))))
	return b.String()
}

// keyOf is the key of the configuration that a variable sets: users.0.token for AGENTCONFORM_USERS_0_TOKEN.
func keyOf(variable string) string {
	name := strings.ToLower(strings.TrimPrefix(variable, "AGENTCONFORM_"))
	parts := keys.FindStringSubmatch(name)
	if parts == nil {
		return name
	}
	group := strings.NewReplacer("users_", "users.", "create_", "create.").Replace(parts[1])
	if kind, entry := strings.CutSuffix(parts[2], "_"); entry { // a header or a secret
		return group + "." + kind + "." + strings.ReplaceAll(parts[3], "_", "-")
	}
	return group + "." + parts[3]
}
