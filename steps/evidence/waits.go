package evidence

import "sync"

// waits counts the answers that asked the client to wait.
type waits struct {
	mu               sync.Mutex
	granted, refused int
}

// Waited notes an answer that asked the client to wait, and whether it did.
func (w *waits) Waited(granted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if granted {
		w.granted++
	} else {
		w.refused++
	}
}

// Throttled is how often the client waited because it was asked to, and how often it did not.
func (w *waits) Throttled() (waited, refused int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.granted, w.refused
}
