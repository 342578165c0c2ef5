package agent

import (
	"context"
	"time"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Listed is a list of threads, and whether it has a certain thread.
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
	look := func() (done bool, err error) {
		l.Rows, l.Response, err = s.List(ctx, t.Owner, nil, t)
		l.Holds = l.Rows.Thread(t.ID).Exists()
		return l.Holds || l.Rows == nil, err
	}
	if done, err := look(); err != nil || done {
		return l, err
	}
	isLong := func() bool { return l.Rows.Len() >= LeastPage && !s.target.Searches() }
	if isLong() {
		before := l.Rows.Len()
		added, err := s.NewThread(ctx, t.Owner)
		if err != nil {
			return l, err
		}
		if done, err := look(); err != nil || done {
			return l, err
		}
		if l.Rows.Thread(added.ID).Exists() && l.Rows.Len() <= before {
			return l, nil
		}
	}
	if err := s.target.RetryFor(ctx, limit, look); err != nil || l.Holds || l.Rows == nil {
		return l, err
	}
	if !isLong() { // the list may have become long while the thread was not in it
		l.IsWhole = !l.Rows.MayLack()
		return l, nil
	}
	before := l.Rows.Len()
	if _, err := s.NewThread(ctx, t.Owner); err != nil {
		return l, err
	}
	if _, err := look(); err != nil {
		return l, err
	}
	l.IsWhole = l.Rows.Len() > before
	return l, nil
}
