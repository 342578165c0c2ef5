// Package script writes the exchanges that led to a finding as a bash script of curl lines. Ids that an answer gave are
// taken from the answer that the script gets itself; reads that the suite repeated are repeated until the answer is as it
// was recorded, for a limited time; requests that overlapped in time do so again. The answer that shows the violation is
// printed at the end.
//
// The result may come from anywhere: each of its texts is quoted for the shell, secrets are named at the recorded places
// only, and nothing is sent to an address that is not one of the result's own targets.
package script
