// Package slots limits how many parts of a run work at a time. A part that waits for what others do gives its slot back
// meanwhile, so that a slot is held only by what can go on.
package slots

import (
	"cmp"
	"container/heap"
	"context"
	"sync"
	"time"
)

// Rank orders those that wait for a slot: the lowest is served first. What others wait for comes before what has started, and this before
// what has not: a scenario that holds a deployment is to return it soon.
type Rank int

// Of what has not started, the rank is its place in the order, from 0.
const (
	started Rank = -1 << 20
	shared  Rank = -1 << 21
)

// OfFixture is the rank of what scenarios share. The longer the chain of what is made from it, the earlier it is served.
func OfFixture(chain int) Rank { return shared - Rank(chain) }

// Slots are those of a run. They may be used by many goroutines. Where there are none (nil), nobody waits for one.
type Slots struct {
	mu      sync.Mutex
	free    int
	came    int
	waiting queue
}

// New returns so many slots.
func New(n int) *Slots { return &Slots{free: n} }

// slot is held by one scenario or fixture; it may have several goroutines.
type slot struct {
	of   *Slots
	rank Rank

	mu         sync.Mutex
	held, left bool
}

type slotKey struct{}

// Enter waits for a slot. The context that it returns holds the slot until leave is called, which may be called more than once. The
// error is the cause of the context.
func (s *Slots) Enter(ctx context.Context, rank Rank) (within context.Context, leave func(), err error) {
	if s == nil {
		return ctx, func() {}, context.Cause(ctx)
	}
	return s.Reserve(rank).Enter(ctx)
}

// Ticket is a place among those who wait for a slot.
type Ticket struct {
	slots   *Slots
	rank    Rank
	came    int
	granted chan struct{}
	index   int // in the queue; -1: not there any more
}

// Reserve takes a place without waiting, so that the order is that of the ranks, and not that in which goroutines come.
func (s *Slots) Reserve(rank Rank) *Ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &Ticket{slots: s, rank: rank, came: s.came, granted: make(chan struct{})}
	s.came++
	heap.Push(&s.waiting, t)
	s.grant()
	return t
}

// Enter is [Slots.Enter] at the place of the ticket.
func (t *Ticket) Enter(ctx context.Context) (within context.Context, leave func(), err error) {
	if err := t.await(ctx); err != nil {
		return ctx, func() {}, err
	}
	held := &slot{of: t.slots, rank: t.rank, held: true}
	return context.WithValue(ctx, slotKey{}, held), held.leave, nil
}

// Cancel gives the place back, or the slot if it was granted already.
func (t *Ticket) Cancel() {
	s := t.slots
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.index >= 0 {
		heap.Remove(&s.waiting, t.index)
		return
	}
	s.free++
	s.grant()
}

func (t *Ticket) await(ctx context.Context) error {
	select {
	case <-t.granted:
		return nil
	case <-ctx.Done():
		t.Cancel()
		return context.Cause(ctx)
	}
}

// grant gives the free slots to the first in the queue. It needs the lock.
func (s *Slots) grant() {
	for s.free > 0 && len(s.waiting) > 0 {
		s.free--
		close(heap.Pop(&s.waiting).(*Ticket).granted)
	}
}

// Away calls wait without the slot that the context holds, and returns with it: its error, or the cause of the context. A context
// without a slot changes nothing.
func Away(ctx context.Context, wait func() error) error {
	held, _ := ctx.Value(slotKey{}).(*slot)
	if held == nil {
		return wait()
	}
	held.release()
	err := wait()
	if again := held.acquire(ctx); err == nil {
		err = again
	}
	return err
}

// leave gives the slot back for good.
func (h *slot) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.left = true
	h.giveBack()
}

func (h *slot) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.giveBack()
}

// giveBack needs the lock.
func (h *slot) giveBack() {
	if !h.held {
		return
	}
	h.held = false
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	h.of.free++
	h.of.grant()
}

// acquire waits for a slot again, unless another goroutine of the same scenario has it already, or the scenario has ended.
func (h *slot) acquire(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held || h.left {
		return nil
	}
	rank := h.rank
	if rank >= 0 {
		rank += started
	}
	if err := h.of.Reserve(rank).await(ctx); err != nil {
		return err
	}
	h.held = true
	return nil
}

// queue is a heap of tickets.
type queue []*Ticket

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].rank, q[j].rank), cmp.Compare(q[i].came, q[j].came)) < 0
}

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push is for package heap.
func (q *queue) Push(x any) {
	t := x.(*Ticket)
	t.index = len(*q)
	*q = append(*q, t)
}

// Pop is for package heap.
func (q *queue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	t.index, *q = -1, (*q)[:last]
	return t
}

// Sleep waits for the time without the slot that the context holds. The error is the cause of the context.
func Sleep(ctx context.Context, d time.Duration) error {
	return Away(ctx, func() error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}
