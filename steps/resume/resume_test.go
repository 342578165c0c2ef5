package resume

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
)

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func catalogue(t testing.TB) *features.Catalogue {
	t.Helper()
	c, err := features.Load()
	require.NoError(t, err)
	return c
}

// written is the journal of a run with two exchanges, a failed scenario, one that passed, and one that had not ended.
func written(t testing.TB, c *features.Catalogue) (folder string, failed, passed, open *features.Scenario) {
	t.Helper()
	folder = t.TempDir()
	all := c.Scenarios()
	failed, passed, open = all[0], all[1], all[2]
	j, err := Create(folder, Header{ID: "0a1b2c3d", Seed: 7, StartedAt: began, Identity: Identity{Version: "1", Digest: c.Digest(),
		Configuration: map[string]string{"target": "aa", "timeouts.poll": "bb"}, Selection: map[string]string{"--only": "CP-*"}}})
	require.NoError(t, err)
	j.Redact = client.NewRedactor(map[string]string{"the-secret-of-the-plane": "$NAME"})
	observe := func(by string, at time.Duration) {
		o := &evidence.Observed{Exchange: reports.Exchange{Scenario: by, Method: "GET", URL: "http://t/x", Status: 200, MS: 1000}, Side: spec.ControlPlane, Base: "http://t", Path: "/x",
			Order: 1, SentNS: at.Nanoseconds()}
		require.NoError(t, j.Observe(o)())
	}
	observe("fixture: shared", 0)
	observe(failed.Key()+" "+failed.Name, time.Second)
	j.Status(reports.Transition{Revision: "r", Status: "BUILDING", AtMS: 1500})
	j.Status(reports.Transition{Revision: "r", Status: "BUILDING", AtMS: 1700})
	j.End(Scenario{Key: failed.Key(), Step: 0, Sentence: failed.Steps[0].Text, Took: time.Second, At: 2 * time.Second, Fixtures: []string{"shared"}, Outcome: &outcome.Outcome{
		Verdict: reports.Failed, Reason: "got the-secret-of-the-plane", Violations: []outcome.Violation{{Expected: "a", Actual: "the-secret-of-the-plane", Exchange: 2, Count: 1}}}})
	observe(open.Key()+" "+open.Name, 3*time.Second)
	j.End(Scenario{Key: passed.Key(), Step: -1, At: 3 * time.Second, Learned: Learned{AgentServer: "http://a", Searches: true}})
	require.NoError(t, j.Err())
	require.NoError(t, j.Close())
	return folder, failed, passed, open
}

func TestAJournalIsReadAsItWasWritten(t *testing.T) {
	c := catalogue(t)
	folder, failed, passed, open := written(t, c)
	text, err := os.ReadFile(filepath.Join(folder, File))
	require.NoError(t, err)
	assert.NotContains(t, string(text), "the-secret-of-the-plane")
	require.NoError(t, os.WriteFile(filepath.Join(folder, File), append(text, `{"scenario":{"key":"cut sh`...), 0o600))
	b, err := Read(folder, c, began.Add(time.Hour))
	require.NoError(t, err)
	assert.Equal(t, []reports.Resumption{{BrokenAt: began.Add(4 * time.Second), ResumedAt: began.Add(time.Hour), TakenOver: 2}}, b.Resumptions)
	assert.Equal(t, []reports.Transition{{Revision: "r", Status: "BUILDING", AtMS: 1500}}, b.Timeline)
	assert.Equal(t, Learned{AgentServer: "http://a", Searches: true}, b.Learned)
	assert.Equal(t, []string{"shared (part 1)"}, b.Ended[failed.Key()].Fixtures)
	assert.Equal(t, "$NAME", b.Ended[failed.Key()].Outcome.Violations[0].Actual)
	assert.Nil(t, b.Ended[passed.Key()].Outcome)
	assert.Equal(t, 4*time.Second, b.Elapsed())
	assert.Equal(t, 2, b.Part())
	assert.Equal(t, []string{"fixture: shared (part 1)", failed.Key() + " " + failed.Name, open.Key() + " " + open.Name + " (interrupted)"}, names(t, b))

	j, err := b.Continue()
	require.NoError(t, err)
	j.End(Scenario{Key: open.Key(), Step: -1, At: 5 * time.Second})
	o := &evidence.Observed{Exchange: reports.Exchange{Scenario: open.Key() + " " + open.Name, Method: "GET", Status: 200}, Side: spec.ControlPlane, SentNS: int64(5 * time.Second)}
	require.NoError(t, j.Observe(o)())
	require.NoError(t, j.Close())
	again, err := Read(folder, c, began.Add(2*time.Hour))
	require.NoError(t, err)
	assert.Equal(t, 3, again.Part())
	require.Len(t, again.Resumptions, 2)
	assert.Equal(t, reports.Resumption{BrokenAt: began.Add(time.Hour + time.Second), ResumedAt: began.Add(2 * time.Hour), TakenOver: 3}, again.Resumptions[1])
	assert.Equal(t, []string{"fixture: shared (part 1)", failed.Key() + " " + failed.Name, open.Key() + " " + open.Name + " (interrupted)", open.Key() + " " + open.Name}, names(t, again))

}

func names(t *testing.T, b *Broken) (all []string) {
	t.Helper()
	require.NoError(t, b.Exchanges(func(o *evidence.Observed) error {
		all = append(all, o.Exchange.Scenario)
		return nil
	}))
	return all
}

// TestAJournalThatNoRunWrote refuses lines, and says which one.
func TestAJournalThatNoRunWrote(t *testing.T) {
	c := catalogue(t)
	folder, failed, passed, _ := written(t, c)
	text, err := os.ReadFile(filepath.Join(folder, File))
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	key := func(s *features.Scenario) string {
		quoted, _ := json.Marshal(s.Key())
		return string(quoted)
	}
	add := func(line string) string { return string(text) + line + "\n" }
	change := func(from, to string) string {
		require.Contains(t, string(text), from)
		return strings.Replace(string(text), from, to, 1)
	}
	for name, tt := range map[string]struct{ journal, want string }{
		"empty":                       {"", "line 0: it is empty"},
		"a torn first line":           {strings.TrimSpace(lines[0]), "line 0: it is empty"},
		"no JSON":                     {add("x"), "line 8: it is not a line of a journal"},
		"nothing known":               {add(`{"other":{}}`), "it is not a line of a journal"},
		"two members":                 {add(`{"status":{"revision":"r"},"resumed":{}}`), "it is not a line of a journal"},
		"a torn line in the middle":   {lines[0] + lines[1][:20] + "\n" + lines[2], "line 2: it is not a line of a journal"},
		"no header":                   {strings.Join(lines[1:], ""), "line 1: a journal begins with the line of its run"},
		"a second header":             {add(strings.TrimSpace(lines[0])), "line 8: a journal begins with the line of its run, and has one"},
		"another schema":              {change(Schema, "x/v9"), `its schema is "x/v9"`},
		"a run ID that is a path":     {change("0a1b2c3d", "../../.."), "is not the ID of a run"},
		"no seed":                     {change(`"seed":7`, `"seed":0`), "the seed 0"},
		"no time":                     {change("2026-01-02T03:04:05Z", "0001-01-02T03:04:05Z"), "cannot have started"},
		"an unknown scenario":         {add(`{"scenario":{"key":"x.feature:1","step":-1,"took_ns":1,"at_ns":1}}`), "there is no scenario"},
		"a scenario twice":            {add(`{"scenario":{"key":` + key(passed) + `,"step":-1,"took_ns":1,"at_ns":1}}`), "ends a second time"},
		"a step that is not there":    {change(`"step":-1`, `"step":99`), "has no step 99"},
		"a sentence of another":       {change(`"sentence":"`, `"sentence":"<script>`), "a sentence that it does not have"},
		"an unknown verdict":          {change(`"verdict":"failed"`, `"verdict":"great"`), "there is no verdict"},
		"a failure without violation": {change(`"violations":[`, `"others":[`), "what failed has a violation, and nothing else but what is blocked"},
		"a skip without a kind":       {change(`"verdict":"failed"`, `"verdict":"skipped"`), "has one of the kinds of skips"},
		"an unknown kind of skip":     {change(`"verdict":"failed"`, `"verdict":"skipped","skip":{"kind":"x"}`), "has one of the kinds of skips"},
		"blocked by nothing":          {change(`"verdict":"failed"`, `"verdict":"blocked"`), "says by what"},
		"blocked by the run's end":    {change(`"verdict":"failed"`, `"verdict":"failed","blocked_by":[{"kind":"run","name":"ended"}]`), "is not blocked by"},
		"an exchange of the future":   {change(`"exchange":2`, `"exchange":3`), "names the exchange 3, which was not recorded"},
		"an exchange below zero":      {change(`"exchange":2`, `"exchange":-1`), "names the exchange -1"},
		"a violation that is none":    {change(`"count":1`, `"count":0`), "counted at least once"},
		"a note about nothing":        {change(`"searches":true`, `"notes":[{"kind":"listing","text":"x","exchange":9}]`), "names the exchange 9"},
		"an unknown side":             {change(`"side":"control-plane"`, `"side":"elsewhere"`), "there is no side"},
		"a method that is none":       {change(`"method":"GET"`, `"method":"GET; rm"`), "there is no method"},
		"an unknown part":             {change(`"side":"control-plane"`, `"side":"control-plane","part":"x"`), "there is no part"},
		"a status that is none":       {change(`"status":200`, `"status":-1`), "cannot have the status -1"},
		"an order that is none":       {change(`"order":1`, `"order":99999`), "exchanges cannot be those of"},
		"a name of the reader":        {change(`"scenario":"fixture: shared"`, `"scenario":"x (interrupted)"`), "exchanges cannot be those of"},
		"a time before the run":       {change(`"sent_ns":1000000000`, `"sent_ns":-1`), "is no time of a run"},
		"a time of many years":        {change(`"at_ns":2000000000`, `"at_ns":9000000000000000000`), "is no time of a run"},
		"a resumption out of time":    {add(`{"resumed":{"taken_over":1}}`), "is no time of a run"},
		"a name that is too long":     {change(`"scenario":"fixture: shared"`, `"scenario":"`+strings.Repeat("x", 3*maxName+101)+`"`), "longer than"},
		"a line that is too long":     {add(strings.Repeat("x", maxLine)), "line 7: it is longer than"},
		"a wrong type":                {change(`"status":200`, `"status":"200"`), "line 2: it is not a line of a journal"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(filepath.Join(folder, File), []byte(tt.journal), 0o600))
			_, err := Read(folder, c, began)
			require.ErrorContains(t, err, tt.want)
			assert.ErrorContains(t, err, "run without --resume")
			assert.Less(t, len(err.Error()), 1000)
		})
	}
	assert.NotEqual(t, failed.Key(), passed.Key())
}

func TestWhereThereIsNoJournal(t *testing.T) {
	c := catalogue(t)
	folder := t.TempDir()
	_, err := Read(folder, c, began)
	require.ErrorContains(t, err, "there is no journal.jsonl; name the folder that was given with --out")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "result.json"), []byte("{}"), 0o600))
	_, err = Read(folder, c, began)
	require.ErrorContains(t, err, "the run there has ended")
	require.NoError(t, os.Mkdir(filepath.Join(folder, File), 0o700))
	_, err = Read(folder, c, began)
	require.ErrorContains(t, err, "is not a regular file")
}

// TestAJournalWithoutVerdictsIsRemoved: a run that could not begin leaves nothing to go on with.
func TestAJournalWithoutVerdictsIsRemoved(t *testing.T) {
	folder := t.TempDir()
	j, err := Create(folder, Header{})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	assert.NoFileExists(t, filepath.Join(folder, File))
}

func TestWhatDiffersIsNamed(t *testing.T) {
	c := catalogue(t)
	folder, _, _, _ := written(t, c)
	b, err := Read(folder, c, began)
	require.NoError(t, err)
	same := func() Identity {
		return Identity{Version: "1", Digest: c.Digest(), Configuration: map[string]string{"target": "aa", "timeouts.poll": "bb"}, Selection: map[string]string{"--only": "CP-*"}}
	}
	for name, tt := range map[string]struct {
		change func(*Identity)
		seed   int64
		want   []string
	}{
		"nothing":                 {func(*Identity) {}, 0, nil},
		"nothing, with a seed":    {func(*Identity) {}, 7, nil},
		"the seed":                {func(*Identity) {}, 8, []string{"--seed is 8, it was 7"}},
		"the version":             {func(i *Identity) { i.Version, i.Digest = "2", "x" }, 0, []string{"the suite is version 2, it was 1"}},
		"the requirements":        {func(i *Identity) { i.Digest = "x" }, 0, []string{"the requirements of the suite are others (digest x, it was " + c.Digest() + ")"}},
		"a key":                   {func(i *Identity) { i.Configuration["target"] = "cc" }, 0, []string{"the configuration differs in target"}},
		"a new and a missing key": {func(i *Identity) { i.Configuration = map[string]string{"target": "aa", "users": "x"} }, 0, []string{"the configuration differs in timeouts.poll, users"}},
		"the selection": {func(i *Identity) { i.Selection = map[string]string{"--tags": "@must"} }, 0,
			[]string{`--only is "", it was "CP-*"`, `--tags is "@must", it was ""`}},
	} {
		t.Run(name, func(t *testing.T) {
			now := same()
			tt.change(&now)
			err := b.Check(now, tt.seed)
			if tt.want == nil {
				require.NoError(t, err)
				return
			}
			var different *Different
			require.ErrorAs(t, err, &different)
			assert.Equal(t, tt.want, different.What)
			assert.ErrorContains(t, err, "run without --resume")
		})
	}
}

// FuzzRead reads any journal without a panic, and what it accepts is possible.
func FuzzRead(f *testing.F) {
	c := catalogue(f)
	folder, _, _, _ := written(f, c)
	text, err := os.ReadFile(filepath.Join(folder, File))
	require.NoError(f, err)
	f.Add(text)
	f.Add(append(text, `{"resumed":{"broken_at":"2026-01-02T03:04:05Z","resumed_at":"2026-01-02T03:04:05Z","taken_over":1}}`+"\n"...))
	for line := range bytes.Lines(text) {
		f.Add(line)
	}
	few := &features.Catalogue{Files: c.Files[:1]} // all of them take long each time
	f.Fuzz(func(t *testing.T, journal []byte) {
		b, _, err := read(bytes.NewReader(journal), newChecker(few))
		if err != nil {
			return
		}
		exchanges := 0
		require.NoError(t, b.exchangesIn(bytes.NewReader(journal), func(o *evidence.Observed) error {
			exchanges++
			return nil
		}))
		require.Regexp(t, runIDs, b.ID)
		require.GreaterOrEqual(t, b.Elapsed(), time.Duration(0))
		for _, s := range b.Ended {
			if s.Outcome != nil {
				for _, v := range s.Outcome.Violations {
					require.LessOrEqual(t, v.Exchange, exchanges)
				}
			}
		}
	})
}
