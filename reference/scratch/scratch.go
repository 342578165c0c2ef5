// Package scratch makes temporary folders that do not outlive a killed process for long: beside each is a file that the process keeps
// locked, and the next process that makes a folder of the same prefix removes those that nobody holds.
package scratch

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// lockSuffix makes the name of a lock file from that of its folder.
const lockSuffix = ".lock"

// attempts bounds how often a new name is tried: a sweep may take a lock file before its maker has locked it.
const attempts = 10

// Folder is a temporary folder in use.
type Folder struct {
	path string
	lock *flock.Flock
}

// New removes the folders of killed processes, and makes one for this process, which only its owner can read. Close it when it is no longer
// used.
func New(prefix string) (*Folder, error) {
	parent := os.TempDir()
	sweep(parent, prefix)
	for range attempts {
		path := filepath.Join(parent, prefix+strings.ToLower(rand.Text()))
		lock, held, err := take(path + lockSuffix)
		if err != nil {
			return nil, fmt.Errorf("lock a temporary folder: %w", err)
		}
		if !held {
			continue
		}
		f := &Folder{path: path, lock: lock}
		if err := os.Mkdir(path, 0o700); err != nil { // never one that is there: it would be somebody else's
			return nil, errors.Join(fmt.Errorf("make a temporary folder: %w", err), f.unlock())
		}
		return f, nil
	}
	return nil, fmt.Errorf("make a temporary folder in %s: its lock file was taken away %d times", parent, attempts)
}

// Path is where the folder is.
func (f *Folder) Path() string { return f.path }

// Close removes the folder and all that is in it.
func (f *Folder) Close() error { return errors.Join(os.RemoveAll(f.path), f.unlock()) }

// unlock removes the lock file while it is held, so that nobody locks a file that is about to go.
func (f *Folder) unlock() error { return errors.Join(os.Remove(f.lock.Path()), f.lock.Unlock()) }

// take locks a file, which it makes where there is none. It is not held if somebody else has it, or has removed it meanwhile.
func take(path string) (lock *flock.Flock, held bool, err error) {
	lock = flock.New(path)
	if held, err = lock.TryLock(); err != nil || !held {
		return nil, false, err
	}
	mine, err := lock.Stat()
	if err != nil {
		return nil, false, errors.Join(err, lock.Unlock())
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(mine, there) {
		return nil, false, lock.Unlock()
	}
	return lock, true, nil
}

// sweep removes the folders whose lock nobody holds. What cannot be removed, such as folders of other users, stays.
func sweep(parent, prefix string) {
	entries, _ := os.ReadDir(parent) // New tells if the folder cannot be used
	for _, e := range entries {
		name, isLock := strings.CutSuffix(e.Name(), lockSuffix)
		if !isLock || !strings.HasPrefix(name, prefix) || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(parent, name)
		if lock, held, err := take(path + lockSuffix); err == nil && held {
			_ = (&Folder{path: path, lock: lock}).Close()
		}
	}
}
