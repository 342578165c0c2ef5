@control-plane
Feature: From CREATING to DEPLOYED
  A client polls the latest revision until its status is DEPLOYED. Which statuses come in between, and in which
  order, is the target's own. (interface, sections 1 and 3)

  @CP-POLL-1 @must @section-1 @section-3
  Rule: Polling the latest revision reaches DEPLOYED

    Scenario: A new deployment is DEPLOYED in the configured time
      Given a deployment that was created
      When the client polls its latest revision
      Then the revision reaches DEPLOYED

    Scenario: Every status on the way is one that the interface knows
      Given a deployment that was created
      When the client polls its latest revision
      Then every status on the way is known

  @CP-POLL-2 @should @section-3 @last
  Rule: What is DEPLOYED stays DEPLOYED while no later revision exists

    Scenario: A deployed revision is still deployed at the end of the run
      Given a deployment that is up
      When the client retrieves its latest revision several times
      Then the revision is DEPLOYED each time

  @CP-POLL-3 @must @section-2 @section-4
  Rule: The list and the single revision agree about a settled revision

    Scenario: Every settled revision reads the same alone and in the list
      Given a deployment that was updated to another source
      When the client lists its revisions and retrieves each
      Then the list and the single revisions agree

  @CP-POLL-4 @should @section-3
  Rule: A source that cannot be built ends in a failed status

    Scenario: A broken source is never DEPLOYED
      Given a source that cannot be built
      And a deployment of its own that is up
      When the client updates the deployment to the broken source and polls
      Then the revision ends in a failed status
