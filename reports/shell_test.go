package reports_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
)

// TestShellWord asks a shell what it makes of the words.
func TestShellWord(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	for _, word := range []string{"", "run", "CP-LIST-*", "@must and not @slow", "it's", "$(reboot)", "`x`", "$HOME", "a;b", "~", "a\nb", `\`, `"`, "'", "!x", "#x", "{a,b}"} {
		out, err := exec.CommandContext(t.Context(), shell, "-c", "printf %s. "+reports.ShellWord(word)).Output()
		require.NoError(t, err, word)
		assert.Equal(t, word, strings.TrimSuffix(string(out), "."), word)
	}
	assert.Equal(t, "http://h:1/p", reports.ShellWord("http://h:1/p"), "no quotes where none are needed")
}
