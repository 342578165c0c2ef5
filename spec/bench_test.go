package spec

import (
	"strings"
	"testing"
)

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmark(b *testing.B, x Exchange, violations int) {
	b.ReportAllocs()
	b.SetBytes(int64(len(x.Body)))
	for b.Loop() {
		if got := shared.JudgeResponse(x); len(got) != violations {
			b.Fatal(got)
		}
	}
}

func twenty(revision string) string { return strings.TrimSuffix(strings.Repeat(revision+",", 20), ",") }

func BenchmarkRevision(b *testing.B)     { benchmark(b, oneRevision(revision("", "")), 0) }
func BenchmarkList20(b *testing.B)       { benchmark(b, page(twenty(revision("", ""))), 0) }
func BenchmarkList20Broken(b *testing.B) { benchmark(b, page(twenty(revision("status", `"UP"`))), 1) }
func BenchmarkProblem(b *testing.B)      { benchmark(b, refused(422, goodProblem), 0) }
func BenchmarkOpen(b *testing.B)         { benchmark(b, refused(401, "no"), 0) }

func BenchmarkState8MiB(b *testing.B) {
	message := `{"type":"ai","content":"` + strings.Repeat("x", 200) + `"},`
	body := `{"values":{"messages":[` + strings.TrimSuffix(strings.Repeat(message, bodyBound/len(message)-1), ",") + `]}}`
	benchmark(b, answer("GET", "/threads/t/state", 200, body), 0)
}

func BenchmarkRequest(b *testing.B) {
	x := answer("GET", revisionsPath, 0, "")
	x.Query = "limit=20&offset=40&status=DEPLOYED,SKIPPED"
	b.ReportAllocs()
	for b.Loop() {
		if got := shared.JudgeRequest(x); got != nil {
			b.Fatal(got)
		}
	}
}
