package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/target"
)

const (
	planeURL = "https://plane.test/base"
	agentURL = "https://agent.test"
	thread   = "11111111-1111-4111-8111-111111111111"
)

// object is a JSON object.
type object = map[string]any

// entryFor returns an entry with a response of 200 and a JSON body. The keys of the changes are paths in the entry, such
// as "request.url".
func entryFor(method, url string, body string, changes object) object {
	e := object{"startedDateTime": "2026-01-02T03:04:05.678Z", "time": 12.5,
		"request": object{"method": method, "url": url, "headers": []object{}},
		"response": object{"status": 200, "headers": []object{{"name": "content-type", "value": "application/json"}},
			"content": object{"size": len(body), "mimeType": "application/json", "text": body}}}
	for path, value := range changes {
		at, names := e, strings.Split(path, ".")
		for _, name := range names[:len(names)-1] {
			at = at[name].(object)
		}
		at[names[len(names)-1]] = value
		if value == nil {
			delete(at, names[len(names)-1])
		}
	}
	return e
}

func archiveOf(t *testing.T, entries ...object) []byte {
	t.Helper()
	text, err := json.Marshal(object{"log": object{"version": "1.2", "creator": object{"name": "browser"}, "entries": entries}})
	require.NoError(t, err)
	return text
}

func read(t *testing.T, archive []byte) *Recording {
	t.Helper()
	r, err := Read(bytes.NewReader(archive), int64(len(archive)))
	require.NoError(t, err)
	return r
}

func targetOf(t *testing.T, change func(*config.Config)) *target.Target {
	t.Helper()
	oracle, err := spec.New()
	require.NoError(t, err)
	c := config.Default()
	c.Target, c.AgentTarget = planeURL, agentURL
	c.Users = []config.User{{Name: "ada", Token: "token-of-ada-1234"}, {Name: "bob", Token: "token-of-bob-1234"}}
	if change != nil {
		change(&c)
	}
	require.NoError(t, c.Complete())
	made, err := target.New(target.Options{Config: &c, Oracle: oracle})
	require.NoError(t, err)
	made.Recorded = true
	return made
}

// play returns the exchanges with the target in an archive, as rules see them.
func play(t *testing.T, to *target.Target, entries ...object) ([]*evidence.Observation, Summary) {
	t.Helper()
	summary, err := read(t, archiveOf(t, entries...)).Play(t.Context(), to)
	require.NoError(t, err)
	return to.Collector.Observations(), summary
}

func TestNotHAR(t *testing.T) {
	t.Parallel()
	whole := string(archiveOf(t, entryFor("GET", agentURL+"/threads", "[]", nil), entryFor("GET", agentURL+"/threads", "[]", nil)))
	deep := strings.Repeat("[", 20_000)
	for name, c := range map[string]struct{ text, want string }{
		"empty":                {"", "not a HAR file"},
		"a text":               {"GET /threads", "not a HAR file"},
		"a list":               {"[]", "not a HAR file"},
		"another object":       {`{"log": {"version": "1.2"}}`, "not a HAR file"},
		"entries as an object": {`{"log": {"entries": {}}}`, "not a HAR file"},
		"no entries":           {`{"log": {"entries": []}}`, "nothing was recorded"},
		"cut in an entry":      {whole[:len(whole)-100], "ends in entry 2: it was cut"},
		"cut between entries":  {whole[:strings.LastIndex(whole, ",{\"request")+1], "ends in entry 2: it was cut"},
		"no JSON in an entry":  {strings.Replace(whole, `"time":12.5`, `"time":12,5`, 1), "in entry 1"},
		"nested too deep":      {`{"log": {"entries": [` + deep, "in entry 1"},
		"a large entry":        {`{"log": {"entries": [{"x": "` + strings.Repeat("x", maxEntry) + `"}]}}`, "in entry 1: it is larger than 32 MB"},
		"a large text":         {`{"x": "` + strings.Repeat("x", maxEntry+1) + `"}`, "not a HAR file"},
		"two archives":         {whole + "\n" + whole, "in a separate file"},
		"a line at its end":    {`{"log": {"entries": []}}` + "\n", "nothing was recorded"},
		"compressed":           {"\x1f\x8b\x08\x00", "with gunzip first"},
	} {
		_, err := Read(strings.NewReader(c.text), int64(len(c.text)))
		assert.ErrorContains(t, err, c.want, name)
	}
	_, err := Open(t.TempDir())
	require.ErrorContains(t, err, "not a regular file")
	_, err = Open(filepath.Join(t.TempDir(), "missing.har"))
	require.ErrorContains(t, err, "name a HAR file")
}

func TestEntries(t *testing.T) {
	t.Parallel()
	state := agentURL + "/threads/" + thread + "/state"
	const body = `{"values": {"messages": []}}`
	for name, c := range map[string]struct {
		entry   object
		status  int
		body    string
		whole   bool
		took    time.Duration
		summary Summary
	}{
		"a response": {entryFor("GET", state, body, nil), 200, body, true, 12500 * time.Microsecond, Summary{Judged: 1}},
		"the default port": {entryFor("GET", strings.Replace(state, ".test", ".TEST:443", 1), body, nil), 200, body, true,
			12500 * time.Microsecond, Summary{Judged: 1}},
		"base64": {entryFor("GET", state, body, object{"response.content.text": "e30=", "response.content.encoding": "base64",
			"response.content.size": 2}), 200, "{}", true, 12500 * time.Microsecond, Summary{Judged: 1}},
		"broken base64": {entryFor("GET", state, body, object{"response.content.encoding": "base64"}), 200, "", false,
			12500 * time.Microsecond, Summary{Judged: 1, Cut: 1}},
		"a body that is not exported": {entryFor("GET", state, body, object{"response.content.text": nil}), 200, "", false,
			12500 * time.Microsecond, Summary{Judged: 1, Cut: 1}},
		"a body that is cut": {entryFor("GET", state, body, object{"response.content.size": 1000}), 200, body, false,
			12500 * time.Microsecond, Summary{Judged: 1, Cut: 1}},
		"a body that the browser has removed": {entryFor("GET", state, "", object{"response.bodySize": 28}), 200, "", false,
			12500 * time.Microsecond, Summary{Judged: 1, Cut: 1}},
		"a body that the Content-Length announces": {entryFor("GET", state, "", object{"response.headers": headers("content-length", "28")}),
			200, "", false, 12500 * time.Microsecond, Summary{Judged: 1, Cut: 1}},
		"an empty body": {entryFor("GET", state, "", object{"response.bodySize": 0}), 200, "", true,
			12500 * time.Microsecond, Summary{Judged: 1}},
		"a compressed body": {entryFor("GET", state, "\x1f\x08", object{"response.headers": headers("content-encoding", "gzip")}),
			200, "\x1f\x08", false, 12500 * time.Microsecond, Summary{Judged: 1, Cut: 1}},
		"the text of a compressed body": {entryFor("GET", state, body, object{"response.headers": headers("content-encoding", "gzip")}),
			200, body, true, 12500 * time.Microsecond, Summary{Judged: 1}},
		"no response":        {entryFor("GET", state, body, object{"response": nil}), 0, "", false, 0, Summary{Judged: 1, NoResponse: 1}},
		"an aborted request": {entryFor("GET", state, body, object{"response.status": 0}), 0, "", false, 0, Summary{Judged: 1, NoResponse: 1}},
		"members of other types": {entryFor("GET", state, body, object{"response.status": "200", "time": "12", "startedDateTime": 1}),
			0, "", false, 0, Summary{Judged: 1, NoResponse: 1}},
		"a time of -1": {entryFor("GET", state, body, object{"time": -1}), 200, body, true, 0, Summary{Judged: 1}},
		"another host": {entryFor("GET", "https://cdn.test/x.js", body, nil), 0, "", false, 0,
			Summary{Elsewhere: 1, Origins: []string{"https://cdn.test:443"}}},
		"http and not https": {entryFor("GET", strings.Replace(state, "https", "http", 1), body, nil), 0, "", false, 0,
			Summary{Elsewhere: 1, Origins: []string{"http://agent.test:80"}}},
		"beside the base path": {entryFor("GET", "https://plane.test/basement/v2/deployments", body, nil), 0, "", false, 0,
			Summary{Elsewhere: 1, Origins: []string{"https://plane.test:443"}}},
		"a cache":     {entryFor("GET", state, body, object{"_fromCache": "disk"}), 0, "", false, 0, Summary{NotFromTarget: 1}},
		"a websocket": {entryFor("GET", "wss://agent.test/threads", "", object{"response.status": 101}), 0, "", false, 0, Summary{Elsewhere: 1}},
		"an upgrade":  {entryFor("GET", state, "", object{"response.status": 101}), 0, "", false, 0, Summary{NotFromTarget: 1}},
		"a body of nested arrays": {entryFor("GET", state, strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000), nil), 200,
			strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), true, 12500 * time.Microsecond, Summary{Judged: 1}},
	} {
		seen, summary := play(t, targetOf(t, nil), c.entry)
		assert.Equal(t, c.summary, summary, name)
		if summary.Judged == 0 {
			continue
		}
		require.Len(t, seen, 1, name)
		assert.Equal(t, []any{c.status, c.body, c.whole, c.took}, []any{seen[0].Status, seen[0].Response, seen[0].Whole,
			seen[0].Ended.Sub(seen[0].Sent)}, name)
	}
}

// TestOrder checks that exchanges are read in the order in which they ended, and that an exchange without a time may have
// happened at any time.
func TestOrder(t *testing.T) {
	t.Parallel()
	at := func(ms int, path string) object {
		return entryFor("GET", agentURL+path, "[]", object{"startedDateTime": fmt.Sprintf("2026-01-02T03:04:05.%03dZ", ms), "time": 10})
	}
	timeless := at(0, "/b")
	delete(timeless, "startedDateTime")
	seen, _ := play(t, targetOf(t, nil), at(500, "/c"), timeless, at(100, "/a"))
	var paths []string
	for _, o := range seen {
		paths = append(paths, o.Path)
	}
	assert.Equal(t, []string{"/a", "/c", "/b"}, paths)
	assert.Equal(t, seen[0].Sent, seen[2].Sent)
	assert.Equal(t, seen[1].Ended, seen[2].Ended)
}

// TestTimes checks that exchanges that may have overlapped are not treated as consecutive. Programs truncate times, and
// write a duration of 0 if they measured none.
func TestTimes(t *testing.T) {
	t.Parallel()
	at := func(start string, took float64) object {
		return entryFor("GET", agentURL+"/threads", "[]", object{"startedDateTime": "2026-01-02T03:04:" + start, "time": took})
	}
	for name, c := range map[string]struct {
		entries  []object
		overlaps bool
	}{
		"in the same second":      {[]object{at("05Z", 10), at("05Z", 20)}, true},
		"a duration of 0":         {[]object{at("05.100Z", 0), at("05.200Z", 10)}, true},
		"a second that is whole":  {[]object{at("05Z", 10), at("05.200Z", 10)}, false},
		"tenths of a second":      {[]object{at("05.1Z", 10), at("05.2Z", 10)}, true},
		"with the time of a zone": {[]object{at("05.100+02:00", 10), at("05.120+02:00", 10)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen, _ := play(t, targetOf(t, nil), c.entries...)
			first, second := seen[0], seen[1]
			if second.Sent.Before(first.Sent) {
				first, second = second, first
			}
			assert.Equal(t, c.overlaps, !first.Ended.Before(second.Sent))
		})
	}
}

func headers(pairs ...string) []object {
	var all []object
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, object{"name": pairs[i], "value": pairs[i+1]})
	}
	return all
}

func TestCallers(t *testing.T) {
	t.Parallel()
	from := func(pairs ...string) object {
		return entryFor("GET", agentURL+"/threads", `["secret-of-eve-4711"]`, object{"request.headers": headers(pairs...)})
	}
	own := func(name string) object {
		e := from("Authorization", "Bearer $AGENTCONFORM_USERS_1_TOKEN")
		return object{"log": object{"creator": object{"name": name}, "entries": []object{e}}}
	}
	to := targetOf(t, nil)
	seen, _ := play(t, to,
		from(":authority", "agent.test", "authorization", "Bearer token-of-ada-1234", "user-agent", "x"),
		from("Authorization", "Bearer token-of-bob-1234"),
		from("Authorization", "Bearer secret-of-eve-4711"),
		from("Authorization", "Bearer secret-of-eve-4711"),
		from("Cookie", "sid=another-secret-12"),
		from("Accept", "*/*"),
		from("X-Custom", "may be a credential"),
		from("Authorization", "Bearer agentconform-unknown-token"))
	var names []string
	for _, o := range seen {
		names = append(names, o.Caller.Name)
	}
	assert.Equal(t, []string{"users.0", "users.1", "caller 1", "caller 1", "caller 2", target.NoCredentials, target.MaybeCaller,
		"a caller with unknown credentials"}, names)
	for i := range seen {
		shown := fmt.Sprint(to.Collector.Exchange(i + 1))
		for _, secret := range []string{"token-of", "secret-of-eve", "another-secret", "may be a credential"} {
			assert.NotContains(t, shown, secret)
		}
	}
	assert.Equal(t, "Bearer $AGENTCONFORM_USERS_0_TOKEN", to.Collector.Exchange(1).Request.Header("Authorization"))
	assert.Equal(t, "Bearer <caller 1>", to.Collector.Exchange(3).Request.Header("Authorization"))
	assert.Equal(t, `["<caller 1>"]`, to.Collector.Exchange(3).Response.Body)

	for name, want := range map[string]string{Creator: "users.1", "another program": "caller 1"} {
		text, err := json.Marshal(own(name))
		require.NoError(t, err)
		named := targetOf(t, nil)
		_, err = read(t, text).Play(t.Context(), named)
		require.NoError(t, err)
		assert.Equal(t, want, named.Collector.Observations()[0].Caller.Name, name)
	}
	// Browsers remove credentials when they export. If a recording has no credentials, it is unknown which caller had none.
	seen, _ = play(t, targetOf(t, nil), from("Accept", "*/*"))
	assert.Equal(t, target.MaybeCaller, seen[0].Caller.Name)
	// They keep headers whose names only look like those of credentials.
	for _, name := range []string{"X-Csrf-Token", "X-Goog-Authuser"} {
		seen, _ = play(t, targetOf(t, nil), from("Accept", "*/*"), from(name, "1234-5678-9012"))
		assert.Equal(t, target.MaybeCaller, seen[0].Caller.Name)
		assert.Equal(t, "caller 1", seen[1].Caller.Name)
	}
}

// TestByteOrderMark checks that an archive may begin with the mark of UTF-8.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.har")
	text := append([]byte("\xef\xbb\xbf"), archiveOf(t, entryFor("GET", agentURL+"/threads", "[]", nil))...)
	require.NoError(t, os.WriteFile(file, text, 0o600))
	r, err := Open(file)
	require.NoError(t, err)
	to := targetOf(t, nil)
	_, err = r.Play(t.Context(), to)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	assert.Equal(t, "[]", to.Collector.Observations()[0].Response)
}

// FuzzRecording checks that no archive makes the reader fail or keep a credential, and that each entry is counted once.
func FuzzRecording(f *testing.F) {
	e, _ := json.Marshal(entryFor("GET", agentURL+"/threads", "[]", object{"request.headers": headers("Authorization", "Bearer secret-of-eve-4711")}))
	f.Add([]byte(`{"log":{"creator":{"name":"agentconform"},"entries":[` + string(e) + `]}}`))
	f.Add([]byte(`{"log":{"entries":[` + string(e) + `,1,null,[],"",{}]},"x":{}}`))
	f.Add([]byte(`{"log":{"entries":[{"request":{"url":"https://agent.test/threads?token=secret-of-eve-4711"},"response":{"status":200,"content":{}}}]`))
	oracle, err := spec.New()
	require.NoError(f, err)
	c := config.Default()
	c.Target, c.AgentTarget = planeURL, agentURL
	require.NoError(f, c.Complete())
	f.Fuzz(func(t *testing.T, archive []byte) {
		r, err := Read(bytes.NewReader(archive), int64(len(archive)))
		if err != nil {
			require.Equal(t, safe.Line(err.Error()), safe.Line(safe.Terminal(err.Error())))
			return
		}
		to, err := target.New(target.Options{Config: &c, Oracle: oracle})
		require.NoError(t, err)
		s, err := r.Play(t.Context(), to)
		require.NoError(t, err)
		require.Len(t, r.places, s.Judged+s.Elsewhere+s.NotFromTarget)
		require.Len(t, to.Collector.Observations(), s.Judged)
		for i, o := range to.Collector.Observations() {
			require.False(t, o.Ended.Before(o.Sent))
			for _, value := range to.Collector.Exchange(i + 1).Request.Headers["Authorization"] {
				require.NotContains(t, value, "secret-of-eve-4711")
			}
		}
	})
}
