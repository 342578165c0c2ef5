// Package controlplane holds what the sentences about the control plane mean (sections 1 to 5, 7 and 8 of the interface): one
// file a subject, with the patterns at its top. It judges; speaking with the control plane is for package plane.
package controlplane
