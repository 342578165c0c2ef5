//go:build browser || nightly

package html_test

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// axe-core judges the accessibility of the page. It is not part of the project (MPL-2.0, half a megabyte): the npm client
// fetches this version once into the user's cache, and what it fetched is held to the checksum of the registry.
const (
	axePackage   = "axe-core"
	axeVersion   = "4.14.1"
	axeIntegrity = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
)

// axeSource returns the script, or skips the test where it cannot be had.
func axeSource(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	dir := filepath.Join(cache, "agentconform-tests")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	path := filepath.Join(dir, axePackage+"-"+axeVersion+".tgz")
	if _, err := os.Stat(path); err != nil {
		npm := exec.CommandContext(t.Context(), "npm", "pack", "--silent", "--ignore-scripts", axePackage+"@"+axeVersion)
		npm.Dir = dir
		if out, err := npm.CombinedOutput(); err != nil {
			t.Skipf("axe-core is not available: the accessibility of the page is not tested (npm pack %s@%s: %v: %.300s)", axePackage, axeVersion, err, out)
		}
	}
	archive, err := os.ReadFile(path)
	require.NoError(t, err)
	sum := sha512.Sum512(archive)
	require.Equal(t, axeIntegrity, base64.StdEncoding.EncodeToString(sum[:]), "the package differs from the one that was pinned: remove %s", path)
	text, err := exec.CommandContext(t.Context(), "tar", "-xzOf", path, "package/axe.min.js").Output()
	require.NoError(t, err)
	return string(text)
}

// openAll opens everything that can be opened, twice: what is opened first may hold more.
const openAll = `(async () => {
	for (let i = 0; i < 2; i++) {
		for (const d of document.querySelectorAll("details")) d.open = true;
		await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
	}
})()`

const runAxe = `axe.run(document).then(r => JSON.stringify(r.violations.map(v =>
	({rule: v.id, impact: v.impact, n: v.nodes.length, first: v.nodes[0].html.slice(0, 300), why: v.nodes[0].failureSummary}))))`

// assertAccessible lets axe-core judge a page with everything opened.
func assertAccessible(t *testing.T, b *browser, axe, page, name string) {
	t.Helper()
	b.open(page, "")
	b.eval(openAll)
	b.eval(axe + "; true")
	var violations []map[string]any
	require.NoError(t, json.Unmarshal([]byte(b.eval(runAxe)), &violations))
	for _, v := range violations {
		t.Errorf("%s: %v (%v, %v elements): %v\n%v", name, v["rule"], v["impact"], v["n"], v["first"], v["why"])
	}
	assert.Equal(t, json.Number(b.eval("innerWidth")), json.Number(b.eval("document.documentElement.scrollWidth")), "%s: nothing sticks out sideways", name)
}
