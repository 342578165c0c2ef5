package export

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/support"
)

// badges is the folder of the badges of the capabilities.
const badges = "badge"

// badgeName matches the names of badges: the name of a capability.
var badgeName = regexp.MustCompile(`^[a-z][a-z-]{0,40}\.json$`)

// writeBadges writes the badge of each capability.
func writeBadges(dir string, r *reports.Result) error {
	if err := removeOwn(dir, badges, badgeName); err != nil {
		return err
	}
	for _, s := range overview.Of(r).Support() {
		name := s.Name + ".json"
		if !badgeName.MatchString(name) {
			continue
		}
		write := func(w io.Writer) error { return support.WriteBadge(w, s) }
		if err := outfile.Write(filepath.Join(dir, badges, name), outfile.Public, write); err != nil {
			return fmt.Errorf("writing the badge of %s: %w", s.Name, err)
		}
	}
	return nil
}
