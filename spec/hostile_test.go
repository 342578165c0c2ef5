package spec

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pb33f/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	bodyBound = 8 << 20 // as large as the client reads, and as large as hostile bodies are made
	manyTimes = 1000

	// Bounds on a hostile body, relative to its size: the worst known body takes 1.5 times as long as a good one of the
	// same size, and allocates 100 bytes for each of its own.
	timeBound  = 10
	allocBound = 150
)

// judgeTimed judges a response and returns the violations and the duration.
func judgeTimed(x Exchange) ([]Violation, time.Duration) {
	start := time.Now()
	violations := shared.JudgeResponse(x)
	return violations, time.Since(start)
}

// TestHostileBodies checks that bodies up to the size limit are judged in reasonable time and memory.
func TestHostileBodies(t *testing.T) {
	fill := func(before, item, after string) string {
		n := (bodyBound - len(before) - len(after)) / len(item)
		return before + strings.TrimSuffix(strings.Repeat(item, n), ",") + after
	}
	good := answer("GET", "/threads", 200, fill(`[`, `{"thread_id":"`+strings.Repeat("t", 400)+`"},`, `]`))
	// most has the maximum number of items, each with some values.
	most := func(before, item, after string, values int) string {
		n := min(MaxValues/values-10, (bodyBound-len(before)-len(after))/len(item))
		return before + strings.TrimSuffix(strings.Repeat(item, n), ",") + after
	}
	_, control := judgeTimed(good)
	for _, c := range []struct {
		name string
		x    Exchange
		want []string
	}{
		{"nested arrays", list(strings.Repeat("[", 100_000)), bad(" depth")},
		{"nested to the bound", list(strings.Repeat("[", bodyBound)), bad(" depth")},
		{"millions of wrong revisions", list(fill(`{"offset":0,"resources":[`, `0,`, `]}`)), bad(" values")},
		{"many wrong revisions", list(most(`{"offset":0,"resources":[`, `0,`, `]}`, 1)), bad("/resources/0 type")},
		{"many empty revisions", list(most(`{"offset":0,"resources":[`, `{},`, `]}`, 1)),
			bad("/resources/0/created_at required", "/resources/0/id required", "/resources/0/source required",
				"/resources/0/source_revision_config required", "/resources/0/status required", "/resources/0/updated_at required")},
		{"many details", refused(422, most(`{"detail":[`, `{"loc":[{}]},`, `]}`, 3)), bad("/detail/0/loc/0 type", "/detail/0/msg required", "/detail/0/type required")},
		{"numbers with vast exponents", list(most(`{"resources":[],"offset":0,"x":[`, `1e999999,`, `]}`, 1)), nil},
		{"a vast exponent as offset", list(`{"resources":[],"offset":1e999999999}`), nil},
		{"a very long number", list(fill(`{"resources":[],"offset":`, `1`, `}`)), nil},
		{"a very long string", oneRevision(fill(`{"id":"`, `x`, `"}`)),
			bad("/created_at required", "/id format", "/source required", "/source_revision_config required", "/status required", "/updated_at required")},
		{"a very long status", oneRevision(revision("status", `"`+strings.Repeat("é", bodyBound/4)+`"`)), bad("/status enum")},
		{"one key very often", list(most(`{"resources":[],"offset":0,`, `"a":1,`, `}`, 1)), bad("/a duplicate-key")},
		{"a long key twice", list(`{"resources":[],"offset":0,"` + strings.Repeat("k", bodyBound/3) + `":1,"` + strings.Repeat("k", bodyBound/3) + `":1}`),
			bad(fmt.Sprintf("/(a name of %d bytes) duplicate-key", bodyBound/3))},
		{"blanks", list(fill(``, ` `, ``)), bad(" json")},
		{"no text", list(fill(``, "\xff", ``)), bad(" encoding")},
		{"many good threads", good, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			violations, took := judgeTimed(c.x)
			runtime.ReadMemStats(&after)
			var got []string
			for _, v := range violations {
				got = append(got, v.Pointer+" "+v.Keyword)
				assert.LessOrEqual(t, utf8.RuneCountInString(v.Actual), 2*excerptLimit)
			}
			assert.Equal(t, c.want, got)
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%v, %d MiB allocated", took.Round(time.Millisecond), allocated>>20)
			for tries := 0; took > timeBound*control && tries < 3; tries++ { // a busy machine can slow down one and not the other
				_, control = judgeTimed(good)
				_, took = judgeTimed(c.x)
			}
			assert.LessOrEqual(t, took, timeBound*control, "a good body of this size takes %s", control)
			assert.Less(t, allocated, uint64(allocBound*bodyBound))
		})
	}
}

// TestAFaultBehindManyItems checks that a violation late in a long array is found, with the pointer into the whole body.
func TestAFaultBehindManyItems(t *testing.T) {
	const before, behind = 12_000, 4_000
	threads := "[" + strings.Repeat(`{"thread_id":"t"},`, before) + `{"thread_id":[]}` + strings.Repeat(`,{"thread_id":"t"}`, behind) + "]"
	got := shared.JudgeResponse(answer("GET", "/threads", 200, threads))
	require.Len(t, got, 1)
	assert.Equal(t, fmt.Sprintf("/%d/thread_id", before), got[0].Pointer)
	assert.Equal(t, "[]", got[0].Actual)
}

func TestExcerpts(t *testing.T) {
	long := strings.Repeat("é", manyTimes)
	assert.Equal(t, `{"a":[1,2.5,true,null,"x"]}`, excerpt(map[string]any{"a": []any{int64(1), 2.5, true, nil, "x"}}))
	assert.Equal(t, excerptLimit, utf8.RuneCountInString(excerpt(long)))
	assert.Equal(t, `"a\x1b[31m\u202eb\x00"`, excerpt("a\x1b[31m\u202eb\x00"), "nothing that a terminal obeys")
	assert.Equal(t, `"a`+"\uFFFD"+`"`, excerptBytes([]byte("a\xff")))
	many, deep := map[string]any{}, any("x")
	for i := range manyTimes {
		many[fmt.Sprint(i)], deep = i, []any{deep, long}
	}
	assert.Equal(t, "{1000 fields}", excerpt(many))
	assert.LessOrEqual(t, utf8.RuneCountInString(excerpt(deep)), excerptLimit)
}

// TestViolationsOfOneAnswerAreBounded checks the maximum number of violations. If a schema applies to all fields, a target
// can invent any number of names, each with its own location.
func TestViolationsOfOneAnswerAreBounded(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("all.json", map[string]any{"additionalProperties": map[string]any{"type": "string"}}))
	value := map[string]any{}
	for i := range 20 * maxViolations {
		value[fmt.Sprintf("k%d", i)] = int64(i)
	}
	assert.Len(t, violationsOf(compiler.MustCompile("all.json"), value), maxViolations)
}

// FuzzJudgeResponse checks that no body, status or content type makes the oracle panic, and that violations are complete.
func FuzzJudgeResponse(f *testing.F) {
	paths := []struct{ method, path string }{
		{"GET", revisionsPath}, {"GET", revisionPath}, {"POST", "/v2/deployments"}, {"PATCH", deploymentPath}, {"GET", deploymentPath},
		{"GET", "/threads/t/state"}, {"GET", "/threads"}, {"POST", "/threads/t/runs"}, {"GET", "/threads/t/runs/r/join"},
	}
	for i, row := range append(controlPlaneRows(), agentServerRows()...) {
		f.Add(uint8(i), uint16(row.x.Status), row.x.Header.Get("Content-Type"), row.x.Body)
	}
	f.Fuzz(func(t *testing.T, which uint8, status uint16, contentType string, body []byte) {
		p := paths[int(which)%len(paths)]
		x := typed(answer(p.method, p.path, int(status), ""), contentType)
		x.Body = bytes.Clone(body)
		keys := map[string]bool{}
		for _, v := range shared.JudgeResponse(x) {
			if v.Operation == "" || v.Keyword == "" || v.Expected == "" || v.Actual == "" || v.Status != int(status) {
				t.Fatalf("half a violation: %#v", v)
			}
			if !utf8.ValidString(v.Expected+v.Actual+v.Pointer) || utf8.RuneCountInString(v.Actual) > 3*excerptLimit {
				t.Fatalf("a bad excerpt: %q", v.Actual)
			}
			if keys[v.Key()] {
				t.Fatalf("the fault %s twice", v.Key())
			}
			keys[v.Key()] = true
		}
		if !bytes.Equal(x.Body, body) {
			t.Fatal("the body was changed")
		}
	})
}
