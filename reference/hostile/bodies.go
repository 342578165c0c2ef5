package hostile

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agentconform/agentconform/reference/deviate"
)

// limit is how much of a body the suite reads, and most how many JSON values of it are judged.
const limit, most = 8 << 20, 50_000

// filled repeats an item between two texts as often as the limit of bodies allows.
func filled(before, item, after string) string {
	return repeated((limit-len(before)-len(after))/len(item), before, item, after)
}

func repeated(n int, before, item, after string) string {
	return before + strings.TrimSuffix(strings.Repeat(item, n), ",") + after
}

const (
	page    = `{"offset":0,"resources":[`
	pageEnd = `]}`
)

// bodies are answers within the limit, and beyond it.
func bodies() []Mode {
	list := func(name, does string, text func() string) Mode {
		return Mode{Name: name, Does: does, Verdict: NonConformant, Layer: both(spoiled, on("list-revisions", lazily(200, text)))}
	}
	return append(values(), []Mode{
		list("nested-objects", "nests objects a million deep", func() string { return filled("", `{"a":`, "") }),
		list("nested-arrays-closed", "nests arrays 100,000 deep and closes them", func() string { return strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) }),
		list("nested-to-the-bound", "fills the body with arrays nested 500 deep", func() string { return filled(page, strings.Repeat("[", 500)+strings.Repeat("]", 500)+",", pageEnd) }),
		list("beyond-the-limit", "lists more than 8 MiB", func() string { return filled(page, " ", strings.Repeat(" ", 1<<20)+pageEnd) }),
		list("blanks", "fills the body with blanks", func() string { return filled("", " ", "") }),
		list("duplicate-keys", "has one key 200,000 times", func() string { return repeated(200_000, `{"resources":[],"offset":0,`, `"a":1,`, `}`) }),
		list("long-key", "has a key of 8 MiB twice", func() string {
			return `{"resources":[],"offset":0,"` + strings.Repeat("k", limit/3) + `":1,"` + strings.Repeat("k", limit/3) + `":1}`
		}),
		list("long-number", "has an offset of millions of digits", func() string { return filled(`{"resources":[],"offset":`, "1", `}`) }),
		list("vast-exponents", "has 200,000 numbers with vast exponents", func() string {
			return repeated(200_000, `{"resources":[],"offset":1e-999999999,"x":[`, "1e999999999,", `]}`)
		}),
		list("invalid-utf8", "sends bytes that are no UTF-8", func() string { return filled(page+`"`, "\xff\xfe", `"]}`) }),
		list("zero-bytes", "sends zero bytes", func() string { return strings.Repeat("\x00", limit) }),
		list("byte-order-mark", "begins with a byte order mark", func() string { return "\ufeff" + page + pageEnd }),
		list("text-after-the-value", "goes on after the JSON value", func() string { return page + pageEnd + strings.Repeat("{}", 1<<20) }),
		list("no-body", "sends no body", func() string { return "" }),
		{Name: "web-page", Does: "answers lists with an HTML page", Verdict: NonConformant,
			Layer: on("list-revisions", typed(200, "text/html", "<!doctype html><script>"+strings.Repeat("x", 1<<20)+"</script>"))},
		{Name: "long-content", Does: "answers states with a message of 7 MiB", Verdict: NonConformant,
			Layer: on("get-state", body(200, `{"values":{"messages":[{"type":"ai","content":"`+strings.Repeat("x", 7<<20)+`"}]}}`))},
		{Name: "long-texts-everywhere", Does: "adds a megabyte to all answers, and has a string as offset", Verdict: NonConformant,
			Layer: both(field("list-revisions", "offset", "x"), always(changing(func(_ *http.Request, a *deviate.Answer) {
				edit(a, func(o map[string]any) { o["x"] = strings.Repeat("é\n", 300<<10) })
			})))},
		{Name: "padded-everything", Does: "adds 60 KB to all answers, and has a string as offset", Verdict: NonConformant,
			Layer: both(field("list-revisions", "offset", "x"), always(changing(func(_ *http.Request, a *deviate.Answer) {
				edit(a, func(o map[string]any) { o["x"] = strings.Repeat("y", 60<<10) })
			})))},
		{Name: "endless-list", Does: "answers lists with a body that does not end", Verdict: NonConformant, Layer: on("list-revisions", endless)},
		{Name: "endless-state", Does: "answers states with a body that does not end", Verdict: NonConformant, Layer: on("get-state", endless)},
		{Name: "compressed-bomb", Does: "answers lists with 1 GB of zeros in 1 MB of gzip", Verdict: NonConformant, Layer: on("list-revisions", zipped(1<<30))},
		{Name: "broken-gzip", Does: "calls a text gzip", Verdict: NonConformant,
			Layer: on("list-revisions", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				w.Header().Set("Content-Encoding", "gzip")
				body(200, page+pageEnd)(w, r, next)
			})},
		{Name: "lone-surrogates", Does: "adds a field with lone surrogates and a vast number", Verdict: Conformant, Because: "JSON allows both, and the interface any field",
			Layer: changed("get-deployment", func(_ *http.Request, a *deviate.Answer) {
				a.Body = bytes.Replace(a.Body, []byte("{"), []byte(`{"x":"\ud800\udfff\ud800","y":1e999999999,`), 1)
			})},
		{Name: "new-key-in-each-answer", Does: "has another key twice in each state", Verdict: NonConformant,
			Layer: changed("get-state", func(r *http.Request, a *deviate.Answer) {
				key := `"` + strconv.FormatInt(serial.Add(1), 36) + `x":0,`
				a.Body = bytes.Replace(a.Body, []byte("{"), []byte("{"+strings.Repeat(key, 2)), 1)
			})},
	}...)
}

// values are bodies with many JSON values.
func values() []Mode {
	text := func(name, operation, does string, status int, text func() string) Mode {
		return Mode{Name: name, Does: does, Verdict: NonConformant, Layer: both(spoiled, on(operation, lazily(status, text)))}
	}
	all := func(before, item, after string) func() string {
		return func() string { return filled(before, item, after) }
	}
	some := func(n int, before, item, after string) func() string {
		return func() string { return repeated(n, before, item, after) }
	}
	return []Mode{
		text("empty-revisions", "list-revisions", "lists millions of empty revisions", 200, all(page, `{},`, pageEnd)),
		text("empty-threads", "list-threads", "lists millions of empty threads", 200, all(`[`, `{},`, `]`)),
		text("empty-messages", "get-state", "has millions of empty messages", 200, all(`{"values":{"messages":[`, `{},`, `]}}`)),
		text("error-details", "list-revisions", "refuses with 170,000 error details", 422, all(`{"detail":[`, `{"loc":["query","limit"],"msg":"","type":""},`, `]}`)),
		text("wrong-error-details", "list-revisions", "refuses with a million error details that are wrong", 422, all(`{"detail":[`, `{"loc":1},`, `]}`)),
		text("flat-array", "get-deployment", "is an array of millions of numbers", 200, all(`[`, `0,`, `]`)),
		text("flat-array-beside", "get-state", "has millions of zeros beside its fields", 200, all(`{"values":{"messages":[]},"x":[`, `0,`, `]}`)),
		text("many-keys", "get-revision", "has 600,000 keys", 200, keys),
		text("most-empty-revisions", "list-revisions", "lists as many empty revisions as are judged", 200, some(most-10, page, `{},`, pageEnd)),
		text("most-error-details", "list-revisions", "refuses with as many error details as are judged", 422, some(most/6, `{"detail":[`, `{"loc":["query","limit"],"msg":"","type":""},`, `]}`)),
		text("most-wrong-details", "list-revisions", "refuses with as many wrong details as are judged", 422, some(most/4, `{"detail":[`, `{"loc":[{}]},`, `]}`)),
		text("most-messages", "get-state", "has as many messages as are judged", 200, some(most/3-10, `{"values":{"messages":[`, `{"type":"ai","content":"x"},`, `]}}`)),
		text("most-threads", "list-threads", "lists as many threads as are judged", 200, some(most/2-10, `[`, `{"thread_id":"1f3870be-274f-46c8-9a1e-7d0c2a1b3c4d"},`, `]`)),
	}
}

// lazily is body for a text that is made when it is first sent.
func lazily(status int, text func() string) answering {
	once := sync.OnceValue(text)
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) { body(status, once())(w, r, next) }
}

// spoiled has a violation of the contract in the answer to the first creation: what takes long to judge may leave no time for more, and the
// verdict is to depend on no machine.
var spoiled = fields("create-deployment", func(object map[string]any) {
	if source, is := object["source_config"].(map[string]any); is {
		source["build_on_push"] = "no"
	}
})

// serial numbers what must be new each time.
var serial atomic.Int64

// both applies two layers.
func both(inner, outer Layer) Layer {
	return func(next http.Handler) http.Handler { return outer(inner(next)) }
}

// keys is an object with as many keys as fit.
func keys() string {
	var b strings.Builder
	b.WriteString(`{"id":1`)
	for i := 0; b.Len() < limit-32; i++ {
		b.WriteString(`,"k` + strconv.Itoa(i) + `":0`)
	}
	return b.String() + "}"
}

func endless(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.Header().Set("Content-Type", "application/json")
	block := []byte(strings.Repeat(" ", 64<<10))
	for {
		if _, err := w.Write(block); err != nil {
			return // the client has gone
		}
	}
}

// zipped answers with many zeros in gzip.
func zipped(size int64) answering {
	bomb := sync.OnceValue(func() string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.CopyN(z, zeros{}, size) // into memory
		_ = z.Close()
		return b.String()
	})
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		w.Header().Set("Content-Encoding", "gzip")
		body(200, bomb())(w, r, next)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}
