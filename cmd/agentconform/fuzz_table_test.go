package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parsers are what reads bytes that others wrote: the function, its file, and the fuzz target in the folder of that file.
var parsers = []struct{ reads, function, file, target string }{
	// files that somebody else may have written
	{"a result", "ReadFile", "reports/read.go", "FuzzReadFile"},
	{"the exchanges of a run", "readExchange", "reports/journal.go", "FuzzJournal"},
	{"the shard of a result", "shardOf", "reports/compare/merge.go", "FuzzShard"},
	{"the journal of a run", "read", "steps/resume/read.go", "FuzzRead"},
	{"a ledger", "parseLedger", "steps/evidence/ledger_read.go", "FuzzLedger"},
	{"a baseline", "Parse", "reports/baseline/file.go", "FuzzParse"},
	{"a configuration, with its environments", "Load", "steps/config/load.go", "FuzzLoad"},
	{"variables of the environment, and rates", "environment", "steps/config/environment.go", "FuzzEnvironment"},
	{"a vocabulary", "NewVocabulary", "spec/vocabulary.go", "FuzzVocabulary"},
	{"expressions of tags", "parseTags", "steps/forecast/tags.go", "FuzzParseTags"},
	{"features", "Parse", "features/catalogue.go", "FuzzParse"},

	// answers of a target
	{"JSON", "Decode", "spec/internal/strictjson/decode.go", "FuzzDecode"},
	{"answers, with their content types", "JudgeResponse", "spec/oracle.go", "FuzzJudgeResponse"},
	{"messages of a state", "HoldsOnly", "steps/agent/messages.go", "FuzzMessages"},
	{"the address of an agent server", "Base", "steps/client/naming/rules.go", "FuzzNamedBy"},
	{"addresses in a deployment", "AddressesIn", "steps/plane/addresses.go", "FuzzAddressesIn"},
	{"Retry-After and Date", "askedToWait", "steps/client/wait.go", "FuzzRetryAfter"},
	{"Location", "keepUnusableRedirect", "steps/client/redirect.go", "FuzzLocation"},
	{"Location, for people", "baseOf", "steps/doctor/trouble.go", "FuzzBaseOf"},
	{"large answers, shortened", "shortened", "steps/client/shorten.go", "FuzzShortened"},
	{"spellings of secrets", "unescaped", "steps/client/spelling.go", "FuzzRedactor"},

	// texts of a target on their way to people
	{"each text, in each report", "Write", "reports/export/export.go", "FuzzReports"},
	{"addresses, for curl", "HostPort", "reports/connection.go", "FuzzAddress"},
	{"exchanges, for a shell", "Write", "reports/script/script.go", "FuzzWrite"},
	{"words of a shell", "ShellWord", "reports/safe/shell.go", "FuzzShellWord"},
	{"text, for a terminal", "Visible", "reports/safe/safe.go", "FuzzVisible"},
	{"text, for systems of continuous integration", "WithoutCommands", "reports/safe/commands.go", "FuzzNoLineIsACommand"},
	{"text, for Markdown", "Markdown", "reports/safe/markup.go", "FuzzMarkdown"},
	{"JSON, for people", "JSON", "reports/safe/markup.go", "FuzzJSON"},
	{"bodies, for the page", "prettyBody", "reports/html/body.go", "FuzzPrettyBody"},
	{"what was expected and what was there, for the page", "compare", "reports/html/difference.go", "FuzzCompare"},

	// requests to the reference, and what it builds
	{"queries", "ParseQuery", "reference/controlplane/validate/query.go", "FuzzQuery"},
	{"bodies of creations and updates", "Body", "reference/controlplane/validate/body.go", "FuzzBody"},
	{"bodies of runs", "createRun", "reference/agentserver/http_create.go", "FuzzRunBody"},
	{"bodies that a handler sees", "decoded", "reference/agentserver/http.go", "FuzzAuthorizedBody"},
	{"modes and places of streams", "queryModes", "reference/agentserver/http_stream.go", "FuzzStreamRequest"},
	{"what a graph has written, for a stream", "send", "reference/agentserver/sse.go", "FuzzEvent"},
	{"graph configurations", "Read", "reference/agentserver/graphconfig/config.go", "FuzzRead"},
	{"files of variables", "ParseEnv", "reference/agentserver/graphconfig/env.go", "FuzzParseEnv"},
	{"graphs", "Load", "reference/script/loader.go", "FuzzScript"},
	{"addresses of repositories, and names of images", "locate", "reference/source/git.go", "FuzzOrigin"},
	{"trees of repositories and images", "add", "reference/source/source.go", "FuzzTree"},
	{"requests of git", "negotiate", "reference/fixtures/gitserver/negotiate.go", "FuzzUpload"},
	{"trees of sources, in the second server", "unpack", "steps/internal/independent/source/tree.go", "FuzzTree"},
}

// TestEveryParserHasItsFuzzTarget compares the table with the code: each function and each target is there, and there is no other target.
func TestEveryParserHasItsFuzzTarget(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	targets := map[string]bool{} // folder and name: whether the table names it
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		folder, _ := filepath.Rel(root, filepath.Dir(path))
		for _, m := range regexp.MustCompile(`(?m)^func (Fuzz\w+)\(f \*testing\.F\)`).FindAllSubmatch(text, -1) {
			targets[filepath.ToSlash(folder)+" "+string(m[1])] = false
		}
		return err
	}))
	for _, p := range parsers {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.file)))
		require.NoError(t, err)
		assert.Regexp(t, `(?m)^func (\([^)]*\) )?`+p.function+`(\[.*\])?\(`, string(text), "%s, which reads %s, is not in %s", p.function, p.reads, p.file)
		folder := p.file[:strings.LastIndexByte(p.file, '/')]
		if folder == "reference/fixtures/gitserver" {
			folder = "reference/fixtures" // which has a repository
		}
		_, exists := targets[folder+" "+p.target]
		assert.True(t, exists, "the target %s in %s, for %s, does not exist", p.target, folder, p.reads)
		targets[folder+" "+p.target] = true
	}
	for target, named := range targets {
		assert.True(t, named, "the table does not name the target %s", target)
	}
}
