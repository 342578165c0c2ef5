package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reference/memnet"
	"github.com/agentconform/agentconform/steps/exchange"
)

// TestLargeBodies checks that bodies within the limit are complete, with or without a Content-Length, and release the slot.
func TestLargeBodies(t *testing.T) {
	for _, size := range []int{0, large - 4, large - 3, 3*large + 7, MaxBody - 4} {
		for _, end := range []string{`"]`, "x"} {
			for _, chunked := range []bool{false, true} {
				t.Run(fmt.Sprint(size, end, chunked), func(t *testing.T) { testLargeBody(t, size, end, chunked) })
			}
		}
	}
}

func testLargeBody(t *testing.T, size int, end string, chunked bool) {
	text := `"` + strings.Repeat("a", 1000) + `"`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if chunked {
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.WriteString(w, "["+strings.Repeat(text+",", size/(len(text)+1))+`"`+strings.Repeat("a", size%(len(text)+1))+end)
	}))
	defer server.Close()
	c := New(1, Route{})
	defer c.Close()
	for range 2 {
		a, err := c.Do(t.Context(), exchange.Request{Base: server.URL, Path: "/", Method: http.MethodGet, Timeout: time.Minute})
		require.NoError(t, err)
		assert.Equal(t, end == `"]`, a.IsJSON())
		if a.IsJSON() {
			assert.Len(t, a.Body, size+4)
		} else {
			assert.Len(t, a.Body, min(size+3, large))
		}
	}
}

// TestLongTextsAreShortened checks that different texts remain different and that the rest of the body does not change.
func TestLongTextsAreShortened(t *testing.T) {
	long := strings.Repeat("é\\u0041", large)
	body := func(text string) []byte {
		return []byte(`{ "t": "` + text + `", "x": [1, "\"", -2.5e3], "x": 2, "n": ` + strings.Repeat("1", large+1) + ` }`)
	}
	one, two := shortened(body(long+"b"), true), shortened(body(long+"c"), true)
	require.True(t, json.Valid(one), "%s", one)
	assert.Less(t, len(one), 3*maxAddress)
	assert.Equal(t, one, shortened(body(long+"b"), true))
	assert.NotEqual(t, one, two)
	assert.True(t, json.Valid(shortened(body(strings.Repeat(`\u0041\"`, large/8)), true)), "no escape is cut")
	assert.Contains(t, string(one), `,"x":[1,"\"",-2.5e3],"x":2,"n":"111`, "of a key that occurs twice, the first value counts, as in the record")
}

// TestShortTextsAreThoseOfResponses checks that a long text can be compared with a text in a response.
func TestShortTextsAreThoseOfResponses(t *testing.T) {
	for _, text := range []string{"short", strings.Repeat("a", large), strings.Repeat(`<&> "é" \`, large/4)} {
		body, err := json.Marshal(map[string]any{"content": text})
		require.NoError(t, err)
		assert.True(t, gjson.GetBytes(shortened(body, true), "content").Str == Short(text), "a text of %d bytes", len(text))
	}
}

// TestEscapesDoNotMakeATextLong checks that a text within the limit is not shortened, no matter how it is escaped.
func TestEscapesDoNotMakeATextLong(t *testing.T) {
	text := strings.Repeat("0123456789abcde ", 2048)
	var escaped strings.Builder
	for _, c := range text + "é<😀" {
		for _, unit := range utf16.Encode([]rune{c}) {
			fmt.Fprintf(&escaped, `\u%04x`, unit)
		}
	}
	short := shortened([]byte(`{"content":"`+escaped.String()+`"}`), true)
	assert.Equal(t, text+"é<😀", gjson.GetBytes(short, "content").String())
	long := strings.Repeat("a", large)
	assert.Equal(t, shortened([]byte(`["`+long+`A"]`), true), shortened([]byte(`["`+long+`\u0041"]`), true))
}

// TestNoTargetIsBlamedForOurQueue lets a large body wait for a slot for longer than the timeout of its request. Another
// request with the same timeout, which was sent later, shows that this time has passed.
func TestNoTargetIsBlamedForOurQueue(t *testing.T) {
	synctest.Test(t, testLargeBodyInQueue)
}

func testLargeBodyInQueue(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	network := memnet.New()
	server := network.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/silent" {
			<-ended
			return
		}
		_, _ = io.WriteString(w, `"`+strings.Repeat("a", large))
		_ = http.NewResponseController(w).Flush()
		close(begun)
		_, _ = io.WriteString(w, strings.Repeat("a", large)+`"`)
	}))
	defer server.Close()
	defer close(ended)
	c := New(2, Route{Dial: network.DialContext})
	defer c.Close()
	send := func(path string) (*exchange.Response, error) {
		return c.Do(t.Context(), exchange.Request{Base: server.URL, Path: path, Method: http.MethodGet, Timeout: 500 * time.Millisecond})
	}
	c.large <- struct{}{}
	type answered struct {
		a   *exchange.Response
		err error
	}
	first := make(chan answered, 1)
	go func() {
		a, err := send("/large")
		first <- answered{a, err}
	}()
	<-begun
	_, err := send("/silent")
	var none *exchange.NoResponse
	require.ErrorAs(t, err, &none)
	require.True(t, none.Timeout)
	<-c.large
	got := <-first
	require.NoError(t, got.err)
	assert.True(t, got.a.IsJSON())
}
