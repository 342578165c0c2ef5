// Package suite runs the specification against a target: it selects scenarios, has godog execute their sentences, gives each
// its verdict, and puts all that was learned together as one result. What is known before a run begins is a Forecast.
package suite
