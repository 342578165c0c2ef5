@control-plane
@record
Feature: What is true of every answer of the control plane
  Judged on all exchanges of a run, without requests of their own. Where a requirement that tells the same has failed, the
  rule here is left to it. A status of 500 or above is judged by the requirements about server errors.

  A conforming target may spell a UUID in upper or lower case; show a graph_config_path in its shortest form; fill in the
  registry, the default tag and the digest of an image_uri; mask secrets within a value; show a null that was not sent
  as a value later.

  @CP-INVARIANT-1 @must @section-2 @section-4 @last
  @needs:create.body
  Rule: Every answer about a deployment or a revision has the id that the request asked for
    "id (deployment id) ... Retrieve a deployment. ... Retrieve one revision (a Revision, with status)."
    Judged on GET of a deployment and of a revision, where the answer has a UUID as id, and on PATCH, where it also has
    latest_revision_id.

    Scenario: No answer of the control plane has another id than its request
      When all exchanges of this run are read
      Then each answer of the control plane has the id of its request

  @CP-INVARIANT-2 @must @section-5 @last @security
  @anonymous
  Rule: No request to the control plane without credentials or with an unknown API key is answered with 2xx
    "Send header X-Api-Key with a valid API key: <API_KEY>."
    Judged on the operations of the interface.

    Scenario: No request without valid credentials was served by the control plane
      Given a control plane that answered in this run
      When all exchanges of this run are read
      Then no control-plane request without valid credentials was answered with 2xx

  @CP-INVARIANT-3 @must @section-2 @last
  @needs:create.body
  Rule: Every read of a revision shows the repo_ref, graph_config_path and image_uri that were sent for it, until the end of the run
    "For a Deployment resource the values refer to its latest revision; for a Revision resource they refer to that
    revision."
    Judged on GET of a revision and on lists, against the POST or PATCH that created the revision; where that sent nothing
    for a field, and for repo_commit_sha, reads with a final status are compared with each other. A PATCH is left out where
    another one of the deployment was under way.

    Scenario: No read of a revision shows another source_revision_config than was sent for it
      When all exchanges of this run are read
      Then each read of a revision shows what was sent for it

  @CP-INVARIANT-4 @must @section-2 @last
  @needs:create.body
  Rule: Every answer with a deployment shows the source_revision_config of the revision that it names as latest, whether that was built or not
    "For a Deployment resource the values refer to its latest revision; for a Revision resource they refer to that
    revision."
    Judged against all reads of that revision. A field that was not sent, such as the commit id, is compared once the
    revision has a final status: before, it may be empty or hold another text, but not the value of another revision. The
    answer to POST or PATCH may leave out any field.

    Scenario: No answer with a deployment shows the source_revision_config of another revision than its latest
      When all exchanges of this run are read
      Then each answer with a deployment shows the source_revision_config of the revision that it names as latest

  @CP-INVARIANT-5 @should @section-2 @last
  @needs:create.body.source=git_host
  Rule: Every read of a revision shows the repo_ref, graph_config_path and image_uri of the one before that its PATCH does not name
    Judged on GET of a revision and on lists, for revisions that a PATCH created while no other one of the deployment was
    under way.

    Scenario: No read of a revision lacks a field of the revision before
      When all exchanges of this run are read
      Then each read of a revision shows the fields of the one before that its update did not name

  @CP-INVARIANT-6 @should @section-3 @last
  @needs:create.body
  Rule: A revision that was seen DEPLOYED is DEPLOYED in every later read while none is later
    "The only stated fact is that a client polls until status is DEPLOYED."
    Judged on GET of a revision and on lists, for deployments that the run created. A PATCH that was under way before the
    answer came may have created a later revision, unless it was refused with 4xx. A read within the key patience after
    the first one that showed DEPLOYED may show what was before.

    Scenario: No read shows another status of a revision that was DEPLOYED
      When all exchanges of this run are read
      Then no revision was seen with another status after it was DEPLOYED while none was later

  @CP-INVARIANT-7 @should @section-7 @last @security
  @anonymous
  Rule: No refusal of the control plane holds a stack trace

    Scenario: No answer of the control plane with 4xx holds a stack trace
      Given a control plane that answered in this run
      When all exchanges of this run are read
      Then no refusal of the control plane holds a stack trace

  @CP-INVARIANT-8 @should @section-1 @section-4 @last
  @needs:create.body
  Rule: Every GET shows what a POST or PATCH has written, once the key patience is over
    "the response body carries the deployment id and latest_revision_id ... (2) Retrieve it with GET
    /v2/deployments/{deployment_id}."
    Judged on GET of a deployment and of a revision and on lists: none is answered with 404 after an answer with 2xx has
    named what it asks for; and on GET of a deployment after a PATCH: none shows the latest_revision_id of before where a
    later one shows another. A write that is answered with 202 is left out, since that says that it is still to be done.

    Scenario: No read shows what was before a write
      When all exchanges of this run are read
      Then each read shows what was written before, once the configured patience is over
