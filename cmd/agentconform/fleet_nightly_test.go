//go:build nightly

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/agentconform/agentconform/reports"
)

// TestFleet runs the command of the Indexed Job in docs/kubernetes as four processes, one for each index, against four
// servers with different faults. The results must be those of runs one by one, and compare shows them side by side.
func TestFleet(t *testing.T) {
	t.Parallel()
	faults := []string{"", "limit-101-is-served", "rollback-is-interrupt", "join-does-not-wait"}
	folder := t.TempDir()
	for i, fault := range faults {
		serveTarget(t, fault, filepath.Join(folder, "targets", fmt.Sprintf("%d.yaml", i)))
	}
	arguments := fleetArguments(t)
	runAll := func(results string, concurrently bool) (all []map[string]string) {
		var pods sync.WaitGroup
		for i := range faults {
			pod := func() {
				command := exec.CommandContext(t.Context(), "agentconform", podArguments(arguments, i, folder, results)...)
				out, _ := command.CombinedOutput() // the exit code is that of the verdict
				assert.Equal(t, i > 0, command.ProcessState.ExitCode() == exitNonConformant, "%s\n%s", faults[i], out)
			}
			if pods.Go(pod); !concurrently {
				pods.Wait()
			}
		}
		pods.Wait()
		for i := range faults {
			all = append(all, verdictsIn(t, filepath.Join(folder, results, fmt.Sprint(i), "result.json")))
		}
		return all
	}
	together := runAll("results", true)
	for i, one := range runAll("alone", false) {
		assert.Equal(t, one, together[i], faults[i])
	}

	files, err := filepath.Glob(filepath.Join(folder, "results", "*", "result.json"))
	require.NoError(t, err)
	require.Len(t, files, len(faults))
	compare := exec.CommandContext(t.Context(), "agentconform", append([]string{"compare"}, files...)...)
	compared, err := compare.CombinedOutput()
	require.NoError(t, err, "%s", compared)
	for _, text := range []string{"target-0", "target-1", "target-2", "target-3", "CP-LIST-3", "AS-ROLLBACK-2"} {
		assert.Contains(t, string(compared), text)
	}
}

// serveTarget serves the reference with a fault in another process, and writes a configuration for it.
func serveTarget(t *testing.T, fault, file string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	serve := exec.CommandContext(t.Context(), "agentconform", "serve", "--write-config", file)
	if fault != "" {
		serve.Args = append(serve.Args, "--fault", fault)
	}
	out, err := serve.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, serve.Start())
	t.Cleanup(func() {
		_ = serve.Process.Signal(os.Interrupt)
		_ = serve.Wait()
	})
	_, err = bufio.NewReader(out).ReadString('\n') // it is ready
	require.NoError(t, err)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	name := "target-" + strings.TrimSuffix(filepath.Base(file), ".yaml")
	text = bytes.Replace(text, []byte("agentconform reference"), []byte(name), 1)
	require.NoError(t, os.WriteFile(file, text, 0o600))
}

// fleetArguments are those of the container in the Job.
func fleetArguments(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/kubernetes/fleet.yaml")
	require.NoError(t, err)
	_, manifest, _ := strings.Cut(string(text), "\n---\n")
	var job struct {
		Spec struct {
			Template struct {
				Spec struct{ Containers []struct{ Args []string } }
			}
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(manifest), &job))
	require.Len(t, job.Spec.Template.Spec.Containers, 1)
	return job.Spec.Template.Spec.Containers[0].Args
}

// podArguments are the arguments as the kubelet gives them to the pod of an index, with folders of this machine in place of
// its volumes.
func podArguments(arguments []string, index int, folder, results string) (all []string) {
	replace := strings.NewReplacer("$(JOB_COMPLETION_INDEX)", fmt.Sprint(index),
		"/targets/", filepath.Join(folder, "targets")+"/", "/results/", filepath.Join(folder, results)+"/")
	for _, a := range arguments {
		all = append(all, replace.Replace(a))
	}
	return all
}

// verdictsIn are the verdict of a result, of each requirement, and by which others a failure is explained.
func verdictsIn(t *testing.T, file string) map[string]string {
	t.Helper()
	result, err := reports.ReadFile(file)
	require.NoError(t, err)
	verdicts := map[string]string{"": string(result.Verdict)}
	for q := range reports.Each(result.Requirements) {
		verdicts[q.ID] = fmt.Sprint(q.Verdict, q.ExplainedBy)
	}
	return verdicts
}
