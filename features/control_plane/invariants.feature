@control-plane
@record
Feature: Invariants of all control-plane responses
  Judged on all exchanges of a test run, without requests of their own. If a requirement that reports the same
  violation has failed, the requirement here is not applicable. The requirements about server errors judge a status of
  500 or above.

  A conforming target may write a UUID in upper or lower case; show a graph_config_path in its shortest form; fill in
  the registry, the default tag and the digest of an image_uri; mask secrets within a value; show a null that was not
  sent as a value later.

  @CP-INVARIANT-1 @must @section-2 @section-4 @last
  @needs:create.body
  Rule: Every response about a deployment or a revision has the id of the request
    "id (deployment id) ... Retrieve a deployment. ... Retrieve one revision (a Revision, with status)."
    Judged on GET of a deployment and of a revision, if the response has a UUID as id, and on PATCH, if it also has
    latest_revision_id.

    Scenario: Every response of the control plane has the id of its request
      When all exchanges of the test run are read
      Then each response of the control plane has the id of its request

  @CP-INVARIANT-2 @must @section-5 @last @security
  @anonymous
  Rule: No control-plane request without credentials or with an unknown API key returns 2xx
    "Send header X-Api-Key with a valid API key: <API_KEY>."
    Judged on the operations of the interface.

    Scenario: No request to the control plane without valid credentials returned 2xx
      Given a control plane that responded in the test run
      When all exchanges of the test run are read
      Then no control-plane request without valid credentials returned 2xx

  @CP-INVARIANT-3 @must @section-2 @last
  @needs:create.body
  Rule: Every read of a revision shows the repo_ref, graph_config_path and image_uri sent for it
    "For a Deployment resource the values refer to its latest revision; for a Revision resource they refer to that
    revision."
    Judged until the end of the test run, on GET of a revision and on lists, against the POST or PATCH that created
    the revision. For a field that was not sent, and for repo_commit_sha, reads with a final status are compared with
    each other. A PATCH is not judged if another one of the same deployment was in progress.

    Scenario: No read of a revision shows a source_revision_config other than the one that was sent for it
      When all exchanges of the test run are read
      Then each read of a revision shows what was sent for it

  @CP-INVARIANT-4 @must @section-2 @last
  @needs:create.body
  Rule: Every response with a deployment shows the source_revision_config of its latest revision
    "For a Deployment resource the values refer to its latest revision; for a Revision resource they refer to that
    revision."
    The latest revision is the one that latest_revision_id of the response names, whether that was built or not.
    Judged against all reads of that revision. A field that was not sent, such as the commit id, is compared once the
    revision has a final status: before, it may be empty or have another text, but not the value of another revision.
    From patience after that, null is a wrong value, too; a deployment may omit the field.
    The response to POST or PATCH may omit any field.

    Scenario: No response with a deployment shows the source_revision_config of a revision other than its latest
      When all exchanges of the test run are read
      Then each response with a deployment shows the source_revision_config of the revision that it names as latest

  @CP-INVARIANT-5 @should @section-2 @last
  @needs:create.body.source=git_host
  Rule: Every read of a revision shows the earlier values of fields that its PATCH did not name
    The fields are repo_ref, graph_config_path and image_uri; their earlier values are those of the revision before.
    Judged on GET of a revision and on lists, for revisions that a PATCH created while no other one of the deployment
    was in progress.

    Scenario: No read of a revision lacks a field of the revision before
      When all exchanges of the test run are read
      Then each read of a revision shows the earlier values of the fields that its update did not name

  @CP-INVARIANT-6 @should @section-3 @last
  @needs:create.body
  Rule: Once seen DEPLOYED, a revision is DEPLOYED in every read until a later revision exists
    "The only stated fact is that a client polls until status is DEPLOYED."
    Judged on GET of a revision and on lists, for deployments that the test run created. A PATCH that was in progress
    before the response may have created a later revision, unless it returned 4xx. A read within the key patience
    after the first one that showed DEPLOYED may show an earlier status.

    Scenario: No read shows a different status of a revision that was DEPLOYED
      When all exchanges of the test run are read
      Then each revision that was DEPLOYED stays DEPLOYED until a later one exists

  @CP-INVARIANT-7 @should @section-7 @last @security
  @anonymous
  Rule: No 4xx response of the control plane contains a stack trace

    Scenario: No 4xx response of the control plane contained a stack trace
      Given a control plane that responded in the test run
      When all exchanges of the test run are read
      Then no refusal of the control plane contains a stack trace

  @CP-INVARIANT-8 @should @section-1 @section-4 @last
  @needs:create.body
  Rule: Every GET shows what an earlier POST or PATCH wrote, after the configured patience
    "the response body carries the deployment id and latest_revision_id ... (2) Retrieve it with GET
    /v2/deployments/{deployment_id}."
    Judged on GET of a deployment and of a revision and on lists: none returns 404 after a 2xx response has named the
    requested object. Judged also on GET of a deployment after a PATCH: none shows the earlier latest_revision_id if a
    later GET shows another. A write that returned 202 is not judged, since 202 means that the work is still to be
    done.

    Scenario: No read shows the values from before a write
      When all exchanges of the test run are read
      Then each read shows what was written before, once the configured patience is over

  @CP-INVARIANT-9 @must @section-2 @last
  @needs:create.body
  Rule: No request sets the id, created_at, updated_at, status or repo_commit_sha of a revision
    "id ... Read-only. ... created_at ... Read-only. ... updated_at ... Read-only. ... status ... Read-only. ...
    repo_commit_sha ... Read-only commit SHA used."
    Judged on reads of a deployment and its revisions after a POST or PATCH that sent such values, or a
    latest_revision_id, and was not refused. A value that was shown before the request was not taken from it. The
    other members of a deployment belong to CP-CREATE-7 and CP-UPDATE-7.

    Scenario: No read shows a read-only value that a request sent for a revision
      When all exchanges of the test run are read
      Then no read-only value of a request is shown by a revision of its deployment

  @CP-INVARIANT-10 @should @section-2 @last
  @needs:create.body.source=git_host
  Rule: GET of a deployment shows the build_on_push that the last POST or PATCH has set
    "a source_config object containing build_on_push (boolean)"
    Judged on GETs that were sent after the key patience, if no write was in progress, the last write that sent
    build_on_push returned 200 or 201, and the deployment shows the field. A target may set false for a tag.

    Scenario: Every GET of a deployment shows the build_on_push that was set last
      When all exchanges of the test run are read
      Then each deployment shows the build_on_push that was set last
