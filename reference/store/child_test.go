package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agentconform/agentconform/reference/controlplane"
)

// crampedFile names, in the environment, the store into which the test binary writes with little room.
const crampedFile = "STORE_TEST_CRAMPED_FILE"

func TestMain(m *testing.M) {
	if file := os.Getenv(crampedFile); file != "" {
		if err := cramped(file); err != nil {
			fmt.Println("failed:", err)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// cramped writes until the system refuses to make a file larger, a while longer, and again when there is room. It prints the id of what was
// acknowledged, and of what was refused with a minus.
func cramped(file string) error {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := Open(file, false)
	if err != nil {
		return err
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	room := limit
	limit.Cur = 150_001 // within a page
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	create := func() error {
		d := controlplane.Deployment{ID: uuid.NewString(), Tenant: "a", Name: strings.Repeat("x", 3000)}
		first := revision(d.ID)
		d.LatestRevisionID = first.ID
		err := s.CreateDeployment(context.Background(), d, first)
		if err != nil {
			fmt.Print("-")
		}
		fmt.Println(d.ID)
		return err
	}
	for refused := 0; refused < 5; {
		if create() != nil {
			refused++
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &room); err != nil {
		return err
	}
	fmt.Println("room again:", create())
	return s.Close()
}

// TestAFullFileRefusesAndKeeps lets the system refuse to make the file larger, as a full disk does.
func TestAFullFileRefusesAndKeeps(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), crampedFile+"="+path)
	out, err := child.CombinedOutput()
	require.NoError(t, err, string(out))
	s, err := Open(path, false)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	kept, refused := 0, 0
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		id, no := strings.CutPrefix(lines.Text(), "-")
		if uuid.Validate(id) != nil {
			continue
		}
		_, err := s.Deployment(t.Context(), "a", id)
		if no {
			refused++
			assert.ErrorIs(t, err, controlplane.ErrNoDeployment, "what was refused is not there")
			continue
		}
		kept++
		assert.NoError(t, err)
		state, err := described(s, id)
		assert.NoError(t, err)
		assert.NotEmpty(t, state)
	}
	assert.Greater(t, kept, 5)
	assert.Positive(t, refused)
	assert.Contains(t, string(out), "room again: <nil>", "when there is room again, the store goes on")
}

// TestADiskWithoutRoomIsNoStore: nothing can be opened on it.
func TestADiskWithoutRoomIsNoStore(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); errors.Is(err, os.ErrNotExist) {
		t.Skip("this system has no /dev/full")
	}
	_, err := Open("/dev/full", false)
	require.ErrorContains(t, err, "open the store /dev/full")
}
