package story_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
)

// run returns a request that starts a run on the thread t.
func run(id, input, more string) reports.Exchange {
	body := fmt.Sprintf(`{"input":{"messages":[{"role":"user","content":%q}]}%s}`, input, more)
	return exchange("create-run", "POST", "/threads/t/runs", body, 200, fmt.Sprintf(`{"run_id":%q}`, id), 0)
}

func join(id string) reports.Exchange {
	return exchange("join-run", "GET", "/threads/t/runs/"+id+"/join", "", 200, "{}", 0)
}

// state returns a response with messages, each of the form "human: text".
func state(messages ...string) reports.Exchange {
	var all []string
	for _, m := range messages {
		kind, content, _ := strings.Cut(m, ": ")
		all = append(all, fmt.Sprintf(`{"type":%q,"content":%q}`, kind, content))
	}
	return exchange("get-state", "GET", "/threads/t/state", "", 200, `{"values":{"messages":[`+strings.Join(all, ",")+`]}}`, 0)
}

// TestMessages checks the runs of the messages, and which of them are wrong.
func TestMessages(t *testing.T) {
	const rollback = `,"multitask_strategy":"rollback"`
	refused := run("", "word-r", "")
	refused.Status, refused.Response.Body = 401, `{"detail":"no"}`
	other := run("o", "word-o", "")
	other.URL = base + "/threads/other/runs"
	for _, c := range []struct {
		name, pointer string
		exchanges     []reports.Exchange
		want          []string
	}{
		{
			"a run that was rolled back", "/values/messages",
			[]reports.Exchange{run("a", "word-a", ""), run("b", "word-b", rollback), join("b"),
				state("human: word-a", "human: word-b", "ai: You said: word-b")},
			[]string{"✗ run A, rolled back: human word-a", "run B: human word-b", "run B: ai You said: word-b"},
		},
		{
			"a run that was rolled back by one with the same input", "/values/messages",
			[]reports.Exchange{run("a", "word", ""), run("b", "word", rollback), join("b"),
				state("human: word", "ai: early", "human: word", "ai: You said: word")},
			[]string{"✗ run A, rolled back: human word", "✗ run A, rolled back: ai early", "run B: human word", "run B: ai You said: word"},
		},
		{
			"an answer of a run that was rolled back by one with the same input", "/values/messages",
			[]reports.Exchange{run("a", "word", ""), run("b", "word", rollback), join("b"), state("ai: word", "human: word", "ai: late")},
			[]string{"✗ run A, rolled back: ai word", "run B: human word", "run B: ai late"},
		},
		{
			"a run that had completed before a rollback", "/values/messages",
			[]reports.Exchange{run("a", "word-a", ""), join("a"), run("b", "word-b", rollback), join("b"),
				state("human: word-b", "ai: word-b")},
			[]string{"✗ missing run A: human word-a", "run B: human word-b", "run B: ai word-b"},
		},
		{
			"no answer", "/values/messages",
			[]reports.Exchange{run("a", "word-a", ""), join("a"), state("human: word-a")},
			[]string{"run A: human word-a", "✗ missing run A: ai "},
		},
		{
			"no answer of a run that fails", "/values/messages",
			[]reports.Exchange{run("a", "fail word-a", ""), join("a"), state("human: fail word-a")},
			[]string{"run A: human fail word-a"},
		},
		{
			"a run that was refused", "/values/messages",
			[]reports.Exchange{run("a", "word-a", ""), join("a"), refused, state("human: word-a", "ai: ok", "human: word-r")},
			[]string{"run A: human word-a", "run A: ai ok", "✗ a run, refused: human word-r"},
		},
		{
			"a run of another thread, and no run", "/values/messages",
			[]reports.Exchange{other, run("a", "word-a", ""), state("human: word-o", "human: what", "human: word-a")},
			[]string{"✗ another run, of another thread: human word-o", "✗ : human what", "run B: human word-a"},
		},
		{
			"one message", "/values/messages/1/content",
			[]reports.Exchange{run("a", "word-a", ""), join("a"), state("human: word-a", "ai: word-a")},
			[]string{"run A: human word-a", "✗ run A: ai word-a"},
		},
		{
			"a finding about something else", "",
			[]reports.Exchange{run("a", "word-a", ""), run("b", "word-b", rollback), state("human: word-a")},
			[]string{"run A, rolled back: human word-a"},
		},
	} {
		var got []string
		for _, m := range storyOf(c.pointer, c.exchanges...).Messages {
			line := reports.Joined(", ", m.Run, m.Note) + ": " + m.Type + " " + m.Text
			if m.Missing {
				line = "missing " + line
			}
			if m.Wrong {
				line = "✗ " + line
			}
			got = append(got, line)
		}
		assert.Equal(t, c.want, got, c.name)
	}
}

// TestItems checks the notes of the items of a list.
func TestItems(t *testing.T) {
	revisions := func(query string, ids ...string) reports.Exchange {
		var all []string
		for _, id := range ids {
			id, status, _ := strings.Cut(id, " ")
			all = append(all, fmt.Sprintf(`{"id":%q,"status":%q}`, id, status))
		}
		body := `{"offset":0,"resources":[` + strings.Join(all, ",") + `]}`
		return exchange("list-revisions", "GET", "/v2/deployments/d/revisions"+query, "", 200, body, -1)
	}
	thread := func(id string, user int) reports.Exchange {
		return exchange("create-thread", "POST", "/threads", "{}", 200, fmt.Sprintf(`{"thread_id":%q}`, id), user)
	}
	threads := func(user int, ids string) reports.Exchange {
		return exchange("list-threads", "GET", "/threads", "", 200, ids, user)
	}
	cut := threads(1, `[{"thread_id":"t1"},{"thread_id":"t2"},{"thread_`)
	cut.Response.Size = 20_000
	for _, c := range []struct {
		name, pointer string
		exchanges     []reports.Exchange
		want          []string
	}{
		{"a filter", "/resources", []reports.Exchange{revisions("?status=DEPLOYED,SKIPPED", "b BUILDING", "a SKIPPED")},
			[]string{"✗ revision 2 BUILDING does not match the filter", "revision 1 SKIPPED"}},
		{"a limit", "/resources", []reports.Exchange{revisions("?limit=1", "b", "a")},
			[]string{"revision 2", "✗ revision 1 beyond the limit of 1"}},
		{"a limit that is not valid", "", []reports.Exchange{revisions("?limit=0", "b", "a")}, []string{"revision 2", "revision 1"}},
		{"a revision that only another list has", "/resources",
			[]reports.Exchange{revisions("?limit=50", "c", "b", "a"), revisions("", "c", "a")},
			[]string{"revision 3", "✗ revision 2 missing", "revision 1"}},
		{"pages, of which one repeats a revision", "/resources",
			[]reports.Exchange{revisions("?limit=2&offset=0", "c", "b"), revisions("?limit=2&offset=2", "b")},
			[]string{"revision 2", "revision 1", "✗ revision 1 repeated"}},
		{"one page of several", "/resources",
			[]reports.Exchange{revisions("", "c", "b", "a"), revisions("?limit=2&offset=0", "c", "b")}, []string{"revision 3", "revision 2"}},
		{"an item", "/resources/1/status", []reports.Exchange{revisions("", "b DEPLOYED", "a X")},
			[]string{"revision 2 DEPLOYED", "✗ revision 1 X"}},
		{"a thread of another user", "", []reports.Exchange{thread("t1", 0), thread("t2", 1), threads(1, `[{"thread_id":"t1"},{"thread_id":"t2"}]`)},
			[]string{"✗ thread 1 created by Alice of another user", "thread 2 created by Bob"}},
		{"a list that was cut", "", []reports.Exchange{thread("t1", 0), thread("t3", 1), cut},
			[]string{"✗ thread 1 created by Alice of another user", ""}},
		{"a thread of the caller", "", []reports.Exchange{thread("t1", 0), threads(0, `[{"thread_id":"x"}]`)},
			[]string{"", "✗ the thread missing"}},
		{"a thread that was deleted", "", []reports.Exchange{thread("t1", 0),
			exchange("delete-thread", "DELETE", "/threads/t1", "", 204, "", 0), threads(0, `[]`)}, nil},
	} {
		var got []string
		for _, i := range storyOf(c.pointer, c.exchanges...).Items {
			line := reports.Joined(" ", i.Name, i.Details, i.Note)
			if i.Wrong {
				line = "✗ " + line
			}
			got = append(got, line)
		}
		assert.Equal(t, c.want, got, c.name)
	}
}

// TestField checks the value that a finding is about, and the value before.
func TestField(t *testing.T) {
	read := func(value string) reports.Exchange {
		return exchange("get-deployment", "GET", "/v2/deployments/d", "", 200, `{"id":"d","source_config":{"build_on_push":`+value+`}}`, -1)
	}
	update := exchange("update-deployment", "PATCH", "/v2/deployments/d", `{"source_config":{"build_on_push":true}}`, 200, `{}`, -1)
	for _, c := range []struct {
		name, pointer, want string
		exchanges           []reports.Exchange
	}{
		{"a value that was read", "/source_config/build_on_push", "source_config.build_on_push true → false, step 1",
			[]reports.Exchange{read("true"), read("false"), read("false")}},
		{"a value that was sent", "/source_config/build_on_push", "source_config.build_on_push true → false, step 2, sent",
			[]reports.Exchange{read("false"), update, read("false")}},
		{"no other value", "/source_config/build_on_push", "source_config.build_on_push  → false, step 0",
			[]reports.Exchange{read("false")}},
		{"an object", "/source_config", "", []reports.Exchange{read("false")}},
		{"no value at all", "/status", "", []reports.Exchange{read("false")}},
	} {
		got := ""
		if f := storyOf(c.pointer, c.exchanges...).Field; f != nil {
			got = fmt.Sprintf("%s %s → %s, step %d", f.Name, f.Before, f.After, f.Step)
			if f.Sent {
				got += ", sent"
			}
		}
		assert.Equal(t, c.want, got, c.name)
	}
}
