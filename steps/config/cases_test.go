package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestARefusalPerCase(t *testing.T) {
	const status, detail = "AGENTCONFORM_AGENT_REJECTED_STATUS", "AGENTCONFORM_AGENT_REJECTED_DETAIL"
	for _, row := range []struct {
		name, file, variable string
		missing, invalid     string // status and detail in the format of Words
		either, blocked      string
	}{
		{name: "nothing is configured", file: "{}"},
		{name: "one value", file: "{rejected_status: 401, rejected_detail: No}",
			missing: `401 "No"`, invalid: `401 "No"`, either: `401 "No"`, blocked: `401 "No"`},
		{name: "a list", file: "{rejected_status: [401, 403]}",
			missing: "401 or 403 ", invalid: "401 or 403 ", either: "401 or 403 ", blocked: "401 or 403 "},
		{name: "a value for each case", file: "{rejected_status: {missing: 401, invalid: [403]}, rejected_detail: {missing: A, invalid: B}}",
			missing: `401 "A"`, invalid: `403 "B"`, either: `401 or 403 "A" or "B"`},
		{name: "a value for a blocked token", file: "{rejected_status: {missing: 401, invalid: 401, blocked: [403, 423]}, rejected_detail: {blocked: C}}",
			missing: "401 ", invalid: "401 ", either: "401 ", blocked: `403 or 423 "C"`},
		{name: "no value for a blocked token", file: "{rejected_status: {missing: 401, invalid: 401}}",
			missing: "401 ", invalid: "401 ", either: "401 "},
		{name: "only one case", file: "{rejected_status: {invalid: 403}}", invalid: "403 "},
		{name: "an empty text", file: "{rejected_detail: ''}"},
		{name: "an empty variable", variable: detail + "=", file: "{rejected_detail: No}"},
		{name: "a variable with a status for one case", variable: status + "={missing: 401}", file: "{rejected_status: 403}", missing: "401 "},
		{name: "a variable with one status", variable: status + "=403", file: "{rejected_status: {missing: 401}}",
			missing: "403 ", invalid: "403 ", either: "403 ", blocked: "403 "},
		{name: "a variable with a status for each case", variable: status + "={missing: 401, invalid: 403}", file: "{}",
			missing: "401 ", invalid: "403 ", either: "401 or 403 "},
		{name: "a variable for one case", variable: status + "_INVALID=403", file: "{rejected_status: 401}",
			missing: "401 ", invalid: "403 ", either: "401 or 403 ", blocked: "401 "},
		{name: "a variable with a text that looks like YAML", variable: detail + "=Go away: now", file: "{}",
			missing: ` "Go away: now"`, invalid: ` "Go away: now"`, either: ` "Go away: now"`, blocked: ` "Go away: now"`},
		{name: "a variable with a text for each case", variable: detail + `={missing: A, invalid: B}`, file: "{}",
			missing: ` "A"`, invalid: ` "B"`, either: ` "A" or "B"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.yaml")
			require.NoError(t, os.WriteFile(file, []byte("agent: "+row.file), 0o600))
			c, err := Load(Sources{File: file, Environ: []string{row.variable}})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(file, c.YAML(), 0o600))
			again, err := Load(Sources{File: file})
			require.NoError(t, err)
			for _, c := range []*Config{c, again} {
				words := func(each RefusalCase) string {
					both := c.Agent.RejectedStatus.Words(each) + " " + c.Agent.RejectedDetail.Words(each)
					if both == " " {
						return ""
					}
					return both
				}
				assert.Equal(t, []string{row.missing, row.invalid, row.either, row.blocked},
					[]string{words(Missing), words(Invalid), words(Either), words(Blocked)})
			}
		})
	}
}

func TestMistakesInARefusal(t *testing.T) {
	const forms = "use a status from 400 to 599, a list of them, or a mapping of missing, invalid and blocked"
	for file, want := range map[string]Error{
		"{rejected_status: no}":                {Key: "agent.rejected_status", Problem: `is "no"`, Remedy: forms},
		`{rejected_status: "401"}`:             {Key: "agent.rejected_status", Problem: `is the string "401"`, Remedy: "remove the quotes"},
		"{rejected_status: 200}":               {Key: "agent.rejected_status", Problem: "200 is not an HTTP error status", Remedy: "use a status from 400 to 599"},
		"{rejected_status: {missing: 200}}":    {Key: "agent.rejected_status.missing", Problem: "200 is not an HTTP error status", Remedy: "use a status from 400 to 599"},
		"{rejected_status: {mising: 401}}":     {Key: "agent.rejected_status.mising", Problem: "unknown key", Remedy: `did you mean "missing"?`},
		"{rejected_status: {invalid: x}}":      {Key: "agent.rejected_status.invalid", Problem: `is "x"`, Remedy: "use a status from 400 to 599, or a list of them"},
		"{rejected_status: [[401]]}":           {Key: "agent.rejected_status.0", Problem: "is a list", Remedy: "use a status from 400 to 599"},
		"{rejected_detail: [No, '']}":          {Key: "agent.rejected_detail", Problem: "has an empty text", Remedy: "remove it, or write the detail of the refusal"},
		"{rejected_detail: {missing: {a: b}}}": {Key: "agent.rejected_detail.missing", Problem: "is a group of keys", Remedy: "use a string, or a list of them"},
	} {
		path := filepath.Join(t.TempDir(), "a.yaml")
		require.NoError(t, os.WriteFile(path, []byte("agent: "+file), 0o600))
		_, err := Load(Sources{File: path})
		want.Source = path + ":1"
		assert.Equal(t, &want, err, file)
	}
}
