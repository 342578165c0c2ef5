package scratch_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/scratch"
)

const prefix = "agentconform-scratch-test-"

// child makes this test binary a process that has a folder in use until its standard input ends.
const child = "AGENTCONFORM_TEST_SCRATCH"

func TestMain(m *testing.M) {
	if os.Getenv(child) == "" {
		os.Exit(m.Run())
	}
	folder, err := scratch.New(prefix)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(folder.Path())
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	_ = folder.Close()
}

// other starts a process and returns its folder, and what ends the process.
func other(t *testing.T) (folder string, kill, end func()) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(program)
	cmd.Env, cmd.Stderr = append(os.Environ(), child+"=1"), os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var once sync.Once
	end = func() { once.Do(func() { _ = stdin.Close(); _ = cmd.Wait() }) }
	t.Cleanup(end)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line), func() { _ = cmd.Process.Kill(); end() }, end
}

// TestFoldersOfKilledProcessesAreSwept kills one of two processes: its folder goes with the next start, the other one's stays.
func TestFoldersOfKilledProcessesAreSwept(t *testing.T) {
	parent := t.TempDir()
	t.Setenv("TMPDIR", parent)
	killed, kill, _ := other(t)
	used, _, end := other(t)
	require.NoError(t, os.WriteFile(filepath.Join(killed, "data"), []byte("x"), 0o600))
	kill()
	require.DirExists(t, killed)

	mine, err := scratch.New(prefix)
	require.NoError(t, err)
	assert.NoDirExists(t, killed)
	assert.NoFileExists(t, killed+".lock")
	assert.DirExists(t, used)
	second, err := scratch.New(prefix)
	require.NoError(t, err)
	assert.DirExists(t, mine.Path(), "it is in use by this process")

	end()
	require.NoError(t, mine.Close())
	require.NoError(t, second.Close())
	entries, err := os.ReadDir(parent)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// TestOnlyFoldersWithALockAreSwept wants what others have made to stay.
func TestOnlyFoldersWithALockAreSwept(t *testing.T) {
	parent, outside := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", parent)
	stays := []string{filepath.Join(parent, prefix+"no-lock"), filepath.Join(parent, "another-prefix"), filepath.Join(parent, prefix+"fifo"), outside}
	for _, folder := range stays[:3] {
		require.NoError(t, os.Mkdir(folder, 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(parent, "another-prefix.lock"), nil, 0o600))
	require.NoError(t, os.Symlink(filepath.Join(parent, "another-prefix.lock"), filepath.Join(parent, prefix+"fifo.lock")))
	require.NoError(t, os.Symlink(outside, filepath.Join(parent, prefix+"link"))) // goes itself, and not what it leads to
	require.NoError(t, os.WriteFile(filepath.Join(parent, prefix+"link.lock"), nil, 0o600))
	folder, err := scratch.New(prefix)
	require.NoError(t, err)
	for _, path := range stays {
		assert.DirExists(t, path)
	}
	assert.NoFileExists(t, filepath.Join(parent, prefix+"link"))
	require.NoError(t, folder.Close())
}

// TestFoldersAreMadeWhileOthersSweep makes and closes folders from many goroutines, each of which sweeps.
func TestFoldersAreMadeWhileOthersSweep(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 30 {
				folder, err := scratch.New(prefix)
				if !assert.NoError(t, err) {
					return
				}
				assert.NoError(t, os.WriteFile(filepath.Join(folder.Path(), "data"), nil, 0o600))
				assert.NoError(t, folder.Close())
			}
		})
	}
	all.Wait()
}
