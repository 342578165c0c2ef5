package hostile

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// deaths are targets that stop in the middle of a run, for ever or for a while.
func deaths() []Mode {
	dies := func(name, does string, requests int64, back time.Duration, verdict Verdict, because string) Mode {
		return Mode{Name: name, Does: does, Verdict: verdict, Because: because, Front: dying(requests, back)}
	}
	const unseen = "no answer shows a violation, and not all was judged"
	return []Mode{
		dies("stops-at-once", "stops after 3 requests", 3, 0, Incomplete, unseen),
		dies("stops", "stops after 400 requests", 400, 0, Incomplete, unseen),
		dies("comes-back", "stops after 400 requests for a second", 400, time.Second, Incomplete, unseen),
		{Name: "cuts-all", Does: "closes each connection without an answer after 300 requests", Verdict: NonConformant, Layer: always(after(300, connection(func(net.Conn) {})))},
		{Name: "cuts-each-third", Does: "closes the connection of each third request after 100", Verdict: NonConformant,
			Layer: always(after(100, eachThird(connection(func(net.Conn) {}))))},
		{Name: "fails-later", Does: "answers 500 after 300 requests", Verdict: NonConformant, Layer: always(after(300, body(500, `{"detail":"x"}`)))},
		{Name: "fails-with-pages", Does: "answers 502 with a large page after 300 requests", Verdict: NonConformant,
			Layer: always(after(300, typed(502, "text/html", strings.Repeat("<p>"+script, 10_000))))},
		{Name: "unavailable-each-third", Does: "answers 503 to each third request after 100", Verdict: NonConformant,
			Layer: always(after(100, eachThird(body(503, ""))))},
		{Name: "forgets-all", Does: "answers 404 after 300 requests", Verdict: NonConformant, Layer: always(after(300, body(404, `{"detail":"Not Found"}`)))},
		{Name: "locks-out", Does: "answers 401 after 300 requests", Verdict: NonConformant, Layer: always(after(300, body(401, `{"detail":"Unauthorized"}`)))},
		{Name: "silent-later", Does: "answers nothing after 300 requests, not even DELETE", Verdict: NonConformant,
			Layer: both(spoiled, always(after(300, silent))), Seconds: removal},
	}
}

func eachThird(answer answering) answering {
	var seen atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if seen.Add(1)%3 != 0 {
			next.ServeHTTP(w, r)
			return
		}
		answer(w, r, next)
	}
}

// dying serves some requests, refuses connections, and comes back after a time, if at all.
func dying(requests int64, back time.Duration) Front {
	return func(l net.Listener, handler http.Handler) {
		served := make(chan struct{})
		var seen atomic.Int64
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if seen.Add(1) == requests {
				close(served)
			}
			handler.ServeHTTP(w, r)
		})}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = server.Serve(alone{l.(*tracked)}) // until Shutdown, or until the listener is closed
		}()
		select {
		case <-ended:
			return
		case <-served:
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Shutdown(ctx) // what is in flight is answered
		<-ended
		if back == 0 {
			return
		}
		time.Sleep(back) // the time is the mode
		again, err := net.Listen("tcp", l.Addr().String())
		if err != nil {
			return
		}
		revived := &http.Server{Handler: handler}
		stop := context.AfterFunc(l.(*tracked).done, func() { _ = revived.Close() })
		defer stop()
		_ = revived.Serve(again)
	}
}

// alone is a listener that is closed without its connections.
type alone struct{ *tracked }

// Close closes the listener.
func (a alone) Close() error { return a.Listener.Close() }
