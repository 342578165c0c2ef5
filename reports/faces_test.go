package reports_test

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/sample"
	"github.com/agentconform/agentconform/reports/safe"
)

// authorities hold each face to what its readers demand of it.
func authorities() map[string]struct {
	write func(io.Writer, *reports.Result) error
	check func(*testing.T, []byte)
} {
	type authority = struct {
		write func(io.Writer, *reports.Result) error
		check func(*testing.T, []byte)
	}
	return map[string]authority{
		"junit.xml":     {reports.JUnit, checkJUnit},
		"summary.md":    {reports.Markdown, checkMarkdown},
		"badge.svg":     {reports.Badge, checkXML},
		"cucumber.json": {reports.Cucumber, schemaCheck("cucumber")},
		"result.har":    {reports.HAR, schemaCheck("har-1.2")},
		"index.html":    {reports.HTML, checkHTML},
	}
}

// withoutAssets keeps the style and the script out of the golden file of the page: they are files themselves.
var withoutAssets = regexp.MustCompile(`(?s)(<style>).*?(</style>)|(<script>).*?(</script>)|(Policy" content=").*?(")`)

func schemaCheck(name string) func(*testing.T, []byte) {
	return func(t *testing.T, doc []byte) {
		schema, err := os.ReadFile(filepath.Join("testdata", "schemas", name+".schema.json"))
		require.NoError(t, err)
		holdTo(t, schema, doc)
	}
}

func TestFacesAreHeldToTheirAuthorities(t *testing.T) {
	for name, a := range authorities() {
		for sampleName, r := range samples() {
			t.Run(name+"/"+sampleName, func(t *testing.T) {
				var b bytes.Buffer
				require.NoError(t, a.write(&b, r))
				a.check(t, b.Bytes())
				if sampleName == "faulty" {
					golden(t, name, withoutAssets.ReplaceAll(b.Bytes(), []byte("$1$2$3$4$5$6")))
				}
			})
		}
	}
}

func TestHostileTextIsHarmlessInEveryFace(t *testing.T) {
	for name, a := range authorities() {
		for textName, text := range sample.HostileTexts() {
			t.Run(name+"/"+textName, func(t *testing.T) {
				var b bytes.Buffer
				require.NoError(t, a.write(&b, sample.Hostile(text)))
				a.check(t, b.Bytes())
				assert.True(t, utf8.Valid(b.Bytes()))
				assert.Equal(t, safe.Visible(b.String()), b.String(), "nothing invisible is left, whoever prints the file")
				if name != "result.har" { // the archive holds the evidence itself, cut to its bounds
					assert.Less(t, b.Len(), 3<<20, "a target cannot blow up a report")
				}
			})
		}
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "out")
	require.NoError(t, reports.Write(dir, sample.Faulty()))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		assert.Positive(t, info.Size(), e.Name())
		assert.Equal(t, os.FileMode(0o644), info.Mode().Perm())
		names = append(names, e.Name())
	}
	assert.ElementsMatch(t, reports.Faces(), names, "and no temporary file is left")

	one := t.TempDir()
	require.NoError(t, reports.Write(one, sample.Faulty(), "junit.xml"))
	entries, err = os.ReadDir(one)
	require.NoError(t, err)
	assert.Len(t, entries, 1)

	assert.ErrorContains(t, reports.Write(one, sample.Faulty(), "report.pdf"), `no report "report.pdf"; the reports are result.json`)
	assert.ErrorContains(t, reports.Write(filepath.Join(one, "junit.xml"), sample.Faulty()), "making the folder")
}

func TestWriteLeavesTheOldFileWhenItFails(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, reports.Write(dir, sample.Conformant(), "result.har"))
	before, err := os.ReadFile(filepath.Join(dir, "result.har"))
	require.NoError(t, err)
	journal, err := reports.NewJournal(dir)
	require.NoError(t, err)
	r := sample.Faulty()
	_, err = journal.Append(reports.Exchange{})
	require.NoError(t, err)
	r.Exchanges = broken{journal}
	require.NoError(t, journal.Close())
	assert.ErrorContains(t, reports.Write(dir, r, "result.har"), "closed")
	after, err := os.ReadFile(filepath.Join(dir, "result.har"))
	require.NoError(t, err)
	assert.Equal(t, before, after)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

// broken claims to hold an exchange that cannot be read.
type broken struct{ *reports.Journal }

func (b broken) Len() int { return 1 }

func (b broken) All() iter.Seq2[reports.Exchange, error] {
	return func(yield func(reports.Exchange, error) bool) { yield(b.Get(1)) }
}

func TestHARKeepsOddAddresses(t *testing.T) {
	r := &reports.Result{Exchanges: reports.NewMemory(
		reports.Exchange{URL: "http://user:secret@h/a b?x=%zz&status=A,B&n=%20#frag"},
		reports.Exchange{URL: "http://[::1"},
	)}
	var b bytes.Buffer
	require.NoError(t, reports.HAR(&b, r))
	schemaCheck("har-1.2")(t, b.Bytes())
	assert.Contains(t, b.String(), `"url":"http://h/a%20b?x=%25zz\u0026status=A,B\u0026n=%20"`)
	assert.NotContains(t, b.String(), "secret")
	assert.Contains(t, b.String(), `{"name":"n","value":" "}`)
}

func TestCucumberNeverShowsAFailureAsPassed(t *testing.T) {
	r := sample.Faulty()
	for i := range r.Requirements {
		for j := range r.Requirements[i].Scenarios {
			for k := range r.Requirements[i].Scenarios[j].Steps {
				r.Requirements[i].Scenarios[j].Steps[k].Verdict = reports.Passed // as if the step had not been marked
			}
		}
	}
	var b bytes.Buffer
	require.NoError(t, reports.Cucumber(&b, r))
	var features []struct {
		Elements []struct {
			Steps []struct{ Result struct{ Status string } }
		}
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &features))
	counts := map[string]int{}
	for _, f := range features {
		for _, e := range f.Elements {
			worst := "passed"
			for _, s := range e.Steps {
				if s.Result.Status != "passed" {
					worst = s.Result.Status
				}
			}
			counts[worst]++
		}
	}
	assert.Equal(t, map[string]int{"passed": 11, "failed": 4, "pending": 3, "skipped": 3}, counts)
}

func TestBadgeCountsWhatBinds(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, reports.Badge(&b, sample.Faulty()))
	assert.Contains(t, b.String(), "non-conformant 8/15")
	b.Reset()
	require.NoError(t, reports.Badge(&b, &reports.Result{Verdict: "<script>"}))
	assert.Contains(t, b.String(), "incomplete 0/0")
}

// checkMarkdown makes sure that no markup of the target is left: outside code there is no raw tag but ours, and no
// link or mention at all.
func checkMarkdown(t *testing.T, doc []byte) {
	t.Helper()
	assert.LessOrEqual(t, len(doc), 500<<10)
	fence := ""
	for _, line := range strings.Split(string(doc), "\n") {
		if fence != "" {
			if line == fence {
				fence = ""
			}
			continue
		}
		if strings.HasPrefix(line, "```") {
			fence = strings.TrimRight(line, "sh")
			continue
		}
		prose := strings.NewReplacer("<details>", "", "</details>", "", "<summary>", "", "</summary>", "").Replace(withoutCode(line))
		for i, c := range prose {
			if strings.ContainsRune("<[`", c) {
				assert.True(t, i > 0 && prose[i-1] == '\\', "unescaped %q in %.200q", c, line)
			}
		}
		assert.NotContains(t, prose, "://")
		assert.NotContains(t, prose, "@")
	}
	assert.Empty(t, fence, "every code block is closed")
}

// withoutCode removes code spans: a run of backticks up to the next run of the same length.
func withoutCode(line string) string {
	var b strings.Builder
	for i := 0; i < len(line); {
		if line[i] == '\\' && i+1 < len(line) {
			b.WriteString(line[i : i+2])
			i += 2
			continue
		}
		n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
		if n == 0 {
			b.WriteByte(line[i])
			i++
			continue
		}
		end := closing(line[i+n:], n)
		if end < 0 {
			b.WriteString(line[i:])
			break
		}
		i += n + end + n
	}
	return b.String()
}

func closing(s string, n int) int {
	for i := 0; i < len(s); {
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if run == n {
			return i
		}
		i += max(run, 1)
	}
	return -1
}
