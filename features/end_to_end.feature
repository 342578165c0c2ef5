@end-to-end
Feature: From a source to an answer, and to the next
  The intended flow, whole: a deployment is created, comes up, serves its users, is updated, and serves them from the
  new revision. (interface, section 1)

  @E2E-1 @must @section-1 @slow
  Rule: The deployed agent server answers from the latest revision that is up

    Scenario: A deployment is created, called, updated, and called again
      Given a second source, whose graph answers differently
      And a deployment of its own that is up
      When the user asks its agent server
      Then the agent server answers
      Given the deployment was updated to the second source and is up again
      When the user asks its agent server once more
      Then the answer comes from the new revision
