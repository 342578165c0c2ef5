package threads

import (
	"errors"
	"fmt"
	"sync"

	"go.etcd.io/bbolt"
)

// writer commits the writes of many goroutines together.
//
// A commit costs a synchronisation with the disk, however much is in it. While one is under way the writes that arrive
// are collected, and the next commit takes them all: so a single write waits for nothing, and a thousand at once do not
// wait for a thousand commits. (bbolt's own Batch makes every lonely write wait for a timer.)
type writer struct {
	db     DB
	ops    chan *writeOp
	quit   chan struct{}
	done   chan struct{}
	closed sync.Once
}

type writeOp struct {
	do     func(*bbolt.Tx) error
	answer chan error
}

// maxCommit bounds how many writes one commit takes, and with it what a failing one makes others repeat.
const maxCommit = 256

func newWriter(db DB) *writer {
	w := &writer{db: db, ops: make(chan *writeOp), quit: make(chan struct{}), done: make(chan struct{})}
	go w.loop()
	return w
}

// write runs do in a transaction and returns when it is durable. Where do fails, nothing of it remains. As with
// bbolt's Batch, do may run more than once.
func (w *writer) write(do func(*bbolt.Tx) error) error {
	op := &writeOp{do: do, answer: make(chan error, 1)}
	select {
	case w.ops <- op:
		return <-op.answer // the loop answers everything that it takes
	case <-w.quit:
		return ErrClosed
	}
}

// close waits for what was begun and ends the loop.
func (w *writer) close() {
	w.closed.Do(func() { close(w.quit) })
	<-w.done
}

func (w *writer) loop() {
	defer close(w.done)
	for {
		select {
		case op := <-w.ops:
			w.commit(w.collect(op))
		case <-w.quit:
			return
		}
	}
}

func (w *writer) collect(first *writeOp) []*writeOp {
	ops := []*writeOp{first}
	for len(ops) < maxCommit {
		select {
		case op := <-w.ops:
			ops = append(ops, op)
		default:
			return ops
		}
	}
	return ops
}

// commit runs all in one transaction. One that fails is answered and taken out, and the others are repeated.
func (w *writer) commit(ops []*writeOp) {
	for len(ops) > 0 {
		failed := -1
		err := w.db.Update(func(tx *bbolt.Tx) error {
			for i, op := range ops {
				if err := safely(op.do, tx); err != nil {
					failed = i
					return err
				}
			}
			return nil
		})
		if failed < 0 {
			for _, op := range ops {
				op.answer <- err
			}
			return
		}
		ops[failed].answer <- err
		ops = append(ops[:failed:failed], ops[failed+1:]...)
	}
}

// safely keeps a panic of one write from ending the loop, and with it everyone else's writes.
func safely(do func(*bbolt.Tx) error, tx *bbolt.Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("writing to the store: %w", errors.New(fmt.Sprint(p)))
		}
	}()
	return do(tx)
}
