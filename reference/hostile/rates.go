package hostile

import (
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// rates are answers that ask the client to wait.
func rates() []Mode {
	return []Mode{
		{Name: "always-429", Does: "asks to come back at once, always", Verdict: Incomplete, Because: "nothing was judged", Layer: always(busy(429, "0"))},
		{Name: "always-503", Does: "is unavailable for a second, always", Verdict: Incomplete, Because: "nothing was judged", Layer: always(busy(503, "1"))},
		{Name: "lists-429", Does: "asks to come back at once for lists, always", Verdict: Incomplete, Because: "no list was judged", Layer: on("list-revisions", busy(429, "0"))},
		{Name: "wait-for-years", Does: "asks for a wait of 30 years for states", Verdict: Incomplete, Because: "no state was judged", Layer: on("get-state", busy(429, "1000000000"))},
		{Name: "wait-beyond-numbers", Does: "asks for a wait of 1e300 s for states", Verdict: Incomplete, Because: "no state was judged", Layer: on("get-state", busy(429, "1e300"))},
		{Name: "wait-is-no-number", Does: "asks for a wait that is no number, for lists", Verdict: Incomplete, Because: "no list was judged", Layer: on("list-revisions", busy(429, "NaN soon \u202e"))},
		{Name: "wait-until-9999", Does: "asks to wait until the year 9999, for lists", Verdict: Incomplete, Because: "no list was judged",
			Layer: on("list-revisions", busy(503, "Fri, 31 Dec 9999 23:59:59 GMT"))},
		{Name: "wait-negative", Does: "asks for a negative wait for lists", Verdict: Incomplete, Because: "no list was judged", Layer: on("list-revisions", busy(429, "-5"))},
		{Name: "refuses-at-first", Does: "asks to wait in the first 5 requests", Verdict: Conformant, Because: "what asks to wait is sent again",
			Layer: always(until(5, busy(429, "0")))},
		{Name: "large-429", Does: "asks to wait with a body of 8 MiB, for states", Verdict: Incomplete, Because: "no state was judged",
			Layer: on("get-state", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				w.Header().Set("Retry-After", "0")
				body(429, strings.Repeat("[{", limit/2))(w, r, next)
			})},
	}
}

func busy(status int, after string) answering {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Retry-After", after)
		w.WriteHeader(status)
	}
}

// until answers the first requests.
func until(requests int64, answer answering) answering {
	var seen atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if seen.Add(1) > requests {
			next.ServeHTTP(w, r)
			return
		}
		answer(w, r, next)
	}
}

// clocks are times that are far away, move or mean nothing.
func clocks() []Mode {
	date := func(name, does, value string) Mode {
		return Mode{Name: name, Does: does, Verdict: Conformant, Because: "the interface says nothing of the clock of the target", Layer: header("Date", value)}
	}
	created := func(name, does string, verdict Verdict, because string, value func() any) Mode {
		return Mode{Name: name, Does: does, Verdict: verdict, Because: because, Layer: both(
			rows(func(_ int, row map[string]any) { row["created_at"] = value() }),
			fields("get-revision", func(o map[string]any) { o["created_at"] = value() }))}
	}
	fixed := func(text string) func() any { return func() any { return text } }
	const anyClock = "the interface says nothing of the clock of the target"
	return []Mode{
		date("date-1970", "has the date of 1970", "Thu, 01 Jan 1970 00:00:00 GMT"),
		date("date-9999", "has the date of 9999", "Fri, 31 Dec 9999 23:59:59 GMT"),
		date("date-is-no-date", "has a date that is none", "yesterday"),
		created("created-in-1970", "says that all was created in 1970", Conformant, anyClock, fixed("1970-01-01T00:00:00Z")),
		created("created-in-9999", "says that all was created in 9999", NonConformant, "", fixed("9999-12-31T23:59:59.999999999Z")),
		created("created-never", "has a month 13 in created_at", NonConformant, "", fixed("2025-13-01T00:00:00Z")),
		created("created-in-long-text", "has 1 MB of digits in created_at", NonConformant, "", fixed("2025-01-01T00:00:00."+strings.Repeat("0", 1<<20)+"Zx")),
		created("created-moves", "has another created_at at each read", NonConformant, "", func() any {
			return time.Unix(1_700_000_000+serial.Add(1)*100_000, 0).UTC().Format(time.RFC3339)
		}),
		{Name: "updated-before-created", Does: "has an updated_at before created_at", Verdict: NonConformant,
			Layer: both(rows(func(_ int, row map[string]any) { row["updated_at"] = "1980-01-01T00:00:00Z" }), field("get-revision", "updated_at", "1980-01-01T00:00:00Z"))},
	}
}
