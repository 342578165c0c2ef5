package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/attest"
)

func newAttest() *cobra.Command {
	var texts []string
	var onlyPredicate bool
	var address string
	c := &cobra.Command{
		Use:   "attest RESULT",
		Short: "Print a result as an in-toto statement, which others can sign",
		Long: `Print a result file as an in-toto statement with the predicate test-result. It states which requirements the subject
has passed. It is not signed: cosign, or the action with attest: true, signs it.

The subject is the result file, or the tested image or commit in --subject. The command cannot check that the target was
built from it.

The result is PASSED if the verdict is conformant, WARNED if it is and a SHOULD failed, and otherwise FAILED, even if the
baseline has all failures. Requirements that were not tested, or for which the test run could not tell, are in none of the
lists: a policy should name the requirements that must be in passedTests.`,
		Example: `  agentconform attest agentconform-out/result.json > statement.json
  agentconform attest out/result.json --subject "$IMAGE@sha256:$DIGEST"
  agentconform attest out/result.json --predicate > test-result.json
  cosign attest --type ` + attest.PredicateType + ` \
    --predicate test-result.json "$IMAGE@sha256:$DIGEST"`,
		Args: arguments(1, 1, "one result file, such as agentconform-out/result.json"),
		RunE: func(c *cobra.Command, files []string) error {
			if onlyPredicate && len(texts) > 0 {
				return errors.New("--predicate prints no subject: remove --subject, and name the subject in the program that signs")
			}
			result, err := reports.ReadFile(files[0])
			if err != nil {
				return err
			}
			content, err := os.ReadFile(files[0])
			if err != nil {
				return err
			}
			sum := sha256.Sum256(content)
			file := attest.Resource{Name: filepath.Base(files[0]), Digest: map[string]string{"sha256": hex.EncodeToString(sum[:])}}
			predicate := attest.Of(result, file, address)
			if onlyPredicate {
				return reports.WriteEncoded(c.OutOrStdout(), predicate, "  ")
			}
			var subjects []attest.Resource
			for _, text := range texts {
				subject, err := attest.ParseSubject(text)
				if err != nil {
					return fmt.Errorf("--subject: %w", err)
				}
				subjects = append(subjects, subject)
			}
			if len(subjects) == 0 {
				subjects = append(subjects, file)
			}
			return attest.WriteStatement(c.OutOrStdout(), predicate, subjects)
		},
	}
	c.Flags().StringArrayVar(&texts, "subject", nil,
		"what was tested, as `NAME@ALGORITHM:DIGEST` with sha256, sha512 or gitCommit (default: the result file)")
	c.Flags().BoolVar(&onlyPredicate, "predicate", false, "print the predicate only, for programs that add the subject")
	c.Flags().StringVar(&address, "url", "", "`URL` of the test run, such as that of the CI job")
	return c
}
