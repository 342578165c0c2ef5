@control-plane
Feature: From CREATING to DEPLOYED
  A client polls the latest revision until its status is DEPLOYED. Transitions between statuses are not judged.

  A conforming target may skip statuses, or pass them too quickly to be seen, and may take minutes for a deployment.

  @CP-POLL-1 @must @section-1 @section-3
  Rule: The latest revision of a new deployment reaches DEPLOYED in the configured time, showing only the thirteen known statuses
    The time is timeouts.poll. Polling stops early at CREATE_FAILED, BUILD_FAILED and DEPLOY_FAILED.

    Scenario: A new deployment is DEPLOYED in the configured time
      Given a deployment that was created
      When the client polls its latest revision
      Then the revision reaches DEPLOYED

    Scenario: Every status on the way is one that the interface knows
      Given a deployment that was created
      When the client polls its latest revision
      Then every status on the way is known

  @CP-POLL-2 @should @section-3 @last
  Rule: A DEPLOYED revision stays DEPLOYED while no later revision exists
    Read several times, when all other scenarios have ended.

    Scenario: A deployed revision is still deployed at the end of the run
      Given a deployment that is up
      When the client retrieves its latest revision several times
      Then the revision is DEPLOYED each time

  @CP-POLL-3 @must @section-2 @section-4
  Rule: The list of revisions and GET of each revision agree on status, source, source_revision_config and created_at
    Judged once the revisions have settled, that is when their statuses no longer change. Not compared is updated_at.
    Requires alternatives.repo_ref or alternatives.image_uri in the configuration.

    Scenario: Every settled revision reads the same alone and in the list
      Given a deployment that was updated to another source
      When the client lists its revisions and retrieves each
      Then the list and the single revisions agree

  @CP-POLL-4 @should @section-3
  Rule: A revision whose source cannot be built ends in CREATE_FAILED, BUILD_FAILED or DEPLOY_FAILED, never in DEPLOYED
    Polling stops at once at each of these four. Where the target refuses the broken source with a 4xx, no revision
    exists and the requirement does not apply.
    Requires alternatives.broken_ref or alternatives.broken_image_uri in the configuration.

    Scenario: A broken source is never DEPLOYED
      Given a source that cannot be built
      And a deployment of its own that is up
      When the client updates the deployment to the broken source and polls
      Then the revision ends in a failed status
