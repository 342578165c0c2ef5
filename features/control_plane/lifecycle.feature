@control-plane
Feature: Deployment status and polling
  A client polls the latest revision until its status is DEPLOYED. Transitions between statuses are not judged.

  A conforming target may skip statuses, or leave them too quickly to be observed, and may take minutes for a
  deployment.

  @CP-POLL-1 @must @section-1 @section-3
  Rule: A new deployment reaches DEPLOYED within timeouts.poll and shows only known statuses
    "Poll GET /v2/deployments/{deployment_id}/revisions/{latest_revision_id} until the revision status is DEPLOYED. ...
    Revision status values (exactly): CREATING, QUEUED, ... INTERRUPTED, UNKNOWN."
    Deployments that only prepare other scenarios are judged too. Polling stops early at CREATE_FAILED, BUILD_FAILED
    and DEPLOY_FAILED. An unknown status fails at once. Polling continues while the status still changes.

    @shares:deployment
    Scenario: A new deployment reaches DEPLOYED within the configured time
      Given a new deployment with a retrievable revision
      When the client polls its latest revision
      Then the revision reaches DEPLOYED

    @shares:deployment
    Scenario: Every status of a new deployment up to DEPLOYED is one of the 13
      Given a new deployment with a retrievable revision
      When the client polls its latest revision and stops at the first unknown status
      Then every status seen is one of the thirteen

    @last
    @needs:create.body @record
    Scenario: Every revision status in the test run is one of the 13
      Given a new revision whose status was seen in the test run
      When all responses to "get-revision" are compared with the contract
      Then no response has an unknown revision status

    @last
    @needs:create.body @record
    Scenario: Every deployment that the test run waited for reached DEPLOYED
      When all exchanges of the test run are read
      Then every deployment that the test run waited for reached DEPLOYED

  @CP-POLL-2 @should @section-3 @last
  @needs:create.body @reads @shares:deployment
  Rule: A DEPLOYED revision stays DEPLOYED while no later revision exists
    "The only stated fact is that a client polls until status is DEPLOYED."
    The revision is read several times, after all other scenarios have ended.

    Scenario: A DEPLOYED revision is still DEPLOYED at the end of the test run
      Given a DEPLOYED deployment
      When the client retrieves its latest revision several times
      Then the revision is DEPLOYED each time

  @CP-POLL-3 @must @section-2 @section-4
  @needs:alternatives.repo_ref|alternatives.image_uri @shares:updated
  Rule: List and GET agree on a revision's status, source, source_revision_config and created_at
    "resources ... array of Revision ... Retrieve one revision (a Revision, with status)."
    Judged once the revisions have settled: their statuses no longer change. updated_at is not compared.

    Scenario: Every revision with a final status has the same values in the list and in GET
      Given a deployment that was updated to another source
      When the client lists its revisions and retrieves each
      Then the list and the retrieved revisions agree

    @situation @writes @after:CP-CREATE-3 @after:CP-REV-4 @after:CP-REV-5 @after:CP-UPDATE-10
    Scenario Outline: List and GET agree on each revision of a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then its list and GET of each revision agree

      @shares:deployment @shares:updated @shares:history
      Examples: deployments that other scenarios read, too
        | event                         |
        | the first build has completed |
        | the source was updated        |
        | the history is long           |

      @shares:situations
      Examples: deployments for these events
        | event                                           |
        | the first build has failed                      |
        | the graph_config_path was updated               |
        | the repo_ref and graph_config_path were updated |
        | the repo_ref was updated to a tag               |
        | the repo_ref was updated to a second tag        |
        | an invalid update was refused                   |
        | a later build has failed                        |
        | an update followed a failed build               |
        | an update was just accepted                     |
        | an update was superseded                        |
        | two updates were sent at the same time          |

  @CP-POLL-4 @should @section-3
  @needs:alternatives.broken_ref|alternatives.broken_image_uri @creates:1/1 @after:CP-UPDATE-10
  Rule: A broken source ends in CREATE_FAILED, BUILD_FAILED or DEPLOY_FAILED, never in DEPLOYED
    "Revision status values (exactly): ... CREATE_FAILED, BUILD_FAILED, DEPLOY_FAILED, DEPLOYED"
    Polling stops at each of these four statuses. If the target returns 4xx for the broken source, no revision exists
    and the requirement does not apply.

    Scenario: A revision with a broken source is never DEPLOYED
      Given a DEPLOYED deployment created for this scenario
      When the client updates the deployment to a source that cannot be built, and polls its latest revision
      Then the revision ends in CREATE_FAILED, BUILD_FAILED or DEPLOY_FAILED
