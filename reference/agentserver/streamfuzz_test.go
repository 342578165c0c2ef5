package agentserver

import (
	"bufio"
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzStreamRequest: modes and places of a stream are of the closed set, or the request is refused.
func FuzzStreamRequest(f *testing.F) {
	for _, seed := range [][2]string{{"stream_mode=values&stream_mode=updates", "3"}, {`stream_mode=["values"]`, "-1"}, {`stream_mode=[1,null,{}]&cancel_on_disconnect=True`, "-2"}, {"stream_mode=", "99999999999999999999"}, {"%zz", "0x1"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, query, id string) {
		q, _ := url.ParseQuery(query)
		modes, err := queryModes(q)
		if err == nil {
			for _, mode := range modes {
				again, err := modesField(mode)
				require.NoError(t, err)
				require.Equal(t, []string{mode}, again)
			}
		}
		_, _ = queryFlag(q, "cancel_on_disconnect")
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Last-Event-ID", id)
		last, given, err := lastEvent(r)
		require.GreaterOrEqual(t, last, -1)
		require.Equal(t, err == nil && id != "", given)
	})
}

// FuzzEvent: whatever a run writes, it is one event, and its data is what was written.
func FuzzEvent(f *testing.F) {
	f.Add("values", `{"a":"x\ny\r\n\ndata: z"}`, "7")
	f.Add("error", `"\u2028\u0000"`, "")
	f.Fuzz(func(t *testing.T, name, document, id string) {
		var value any
		if json.Unmarshal([]byte(document), &value) != nil || strings.ContainsAny(name+id, "\r\n") { // these are our own
			return
		}
		w := httptest.NewRecorder()
		stream := openStream(w)
		require.NoError(t, stream.beat())
		require.NoError(t, stream.send(event{name: name, data: value, id: id}))
		lines := bufio.NewScanner(w.Body)
		lines.Buffer(nil, 1<<20)
		fields := map[string][]string{}
		ended := 0
		for lines.Scan() {
			field, text, _ := strings.Cut(lines.Text(), ":")
			if lines.Text() == "" {
				ended++
			}
			fields[field] = append(fields[field], strings.TrimPrefix(text, " "))
		}
		require.NoError(t, lines.Err())
		require.Equal(t, 1, ended)
		require.Len(t, fields["data"], 1)
		require.True(t, slices.Equal([]string{name}, fields["event"]) || strings.HasPrefix(name, " "))
		var read any
		require.NoError(t, json.Unmarshal([]byte(fields["data"][0]), &read))
		require.Equal(t, value, read)
	})
}
