package agent

import (
	"context"
	"time"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Listed is a list of threads. It records whether the list contains a certain thread.
type Listed struct {
	Rows     Listing
	Response *exchange.Response
	Holds    bool // the list has the thread
	IsWhole  bool // the list has all threads of the caller
}

// Undecided returns nil if the list has the thread or is whole. Otherwise the thread may be on another page, and the
// outcome is not applicable.
func (l Listed) Undecided() error {
	if l.Rows == nil || l.Holds || l.IsWhole {
		return nil
	}
	return outcome.Inapplicable("lists of threads", "the list may be one page of several")
}

// Listed lists the threads of the owner of a thread until the list has the thread or the time is over. A list that is shorter
// than any page is whole. To judge a longer one, Listed adds threads: if the list grows, no limit has cut it, and it is
// whole. If the first of them only replaces another thread, the list is the page of the newest threads, and Listed does
// not wait for the thread.
func (s *Server) Listed(ctx context.Context, t *Thread, limit time.Duration) (Listed, error) {
	var l Listed
	done, err := s.look(ctx, t, &l)
	if err != nil || done {
		return l, err
	}
	if s.isLong(l.Rows) {
		added, hasGrown, err := s.lookWithMore(ctx, t, &l)
		if err != nil || l.Holds || l.Rows == nil {
			return l, err
		}
		if !hasGrown && l.Rows.Thread(added.ID).Exists() {
			return l, nil
		}
	}
	err = s.target.RetryFor(ctx, limit, func() (bool, error) { return s.look(ctx, t, &l) })
	if err != nil || l.Holds || l.Rows == nil {
		return l, err
	}
	if !s.isLong(l.Rows) { // the list may have become long while the thread was not in it
		l.IsWhole = !l.Rows.MayLack()
		return l, nil
	}
	_, l.IsWhole, err = s.lookWithMore(ctx, t, &l)
	return l, err
}

// look reads the list once. It reports whether no further read is needed.
func (s *Server) look(ctx context.Context, t *Thread, l *Listed) (done bool, err error) {
	l.Rows, l.Response, err = s.List(ctx, t.Owner, nil, t)
	l.Holds = l.Rows.Thread(t.ID).Exists()
	return l.Holds || l.Rows == nil, err
}

// lookWithMore adds a thread and reads the list again. It reports whether the list has more threads than before.
func (s *Server) lookWithMore(ctx context.Context, t *Thread, l *Listed) (added *Thread, hasGrown bool, err error) {
	before := l.Rows.Len()
	added, err = s.NewThread(ctx, t.Owner)
	if err != nil {
		return nil, false, err
	}
	_, err = s.look(ctx, t, l)
	return added, err == nil && l.Rows.Len() > before, err
}

// isLong reports whether the server may have more threads than the list.
func (s *Server) isLong(rows Listing) bool { return rows.Len() >= LeastPage && !s.target.Searches() }
