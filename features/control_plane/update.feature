@control-plane
Feature: Updating a deployment
  PATCH with a non-null repo_ref, graph_config_path or image_uri creates a new revision. No other PATCH does.

  A conforming target may return 200, 201 or 202; refuse a PATCH that tries to change the source or read-only fields,
  or ignore these fields.

  @CP-UPDATE-1 @must @section-2 @section-4
  @needs:create.body.source=git_host
  Rule: PATCH with non-null repo_ref creates one revision, named by latest_revision_id
    "repo_ref ... On PATCH, a non-null value triggers creation of a new revision."
    Judged with a new value, with the current value, and together with graph_config_path, which must create one
    revision in total. Judged also on each update that only prepares another scenario.

    @needs:alternatives.repo_ref @shares:changing @creates:0/1
    Scenario: Updating repo_ref creates one revision, and latest_revision_id names it
      Given a deployment that accepts updates
      When the client updates "repo_ref"
      Then exactly one revision was created
      And the "latest_revision_id" of the deployment names that revision

    @shares:changing @creates:0/1
    Scenario: Updating repo_ref to its current value creates one revision
      Given a deployment that accepts updates
      When the client updates "repo_ref" to its current value
      Then exactly one revision was created
      And the "latest_revision_id" of the deployment names that revision

    @needs:alternatives.repo_ref|create.body.source_revision_config.repo_ref
    @needs:alternatives.graph_config_path|create.body.source_revision_config.graph_config_path
    @shares:changing @creates:0/1
    Scenario: Updating repo_ref and graph_config_path in one request creates one revision, not two
      Given a deployment that accepts updates
      When the client updates "repo_ref" and "graph_config_path" in one request
      Then exactly one revision was created
      And the "latest_revision_id" of the deployment names that revision

    @shares:changing @creates:0/1
    Scenario: Updating repo_ref with graph_config_path null creates one revision
      Given a deployment that accepts updates
      When the client updates "repo_ref" together with "graph_config_path" null
      Then exactly one revision was created
      And the "latest_revision_id" of the deployment names that revision

    @shares:changing @creates:0/2
    Scenario: Updating repo_ref while the revision of an earlier update may still be built creates another revision
      Given a deployment that accepts updates
      When the client updates "repo_ref" twice, the second time while the first revision may still be built
      Then the "latest_revision_id" of the deployment names the second revision

    @shares:changing @creates:0/2
    Scenario: Updating repo_ref while the revision of an earlier update is being built creates another revision
      Given a deployment that accepts updates
      When the client updates "repo_ref" twice, the second time while the first revision is being built
      Then the "latest_revision_id" of the deployment names the second revision

    @shares:changing @creates:0/2
    Scenario: Two updates of repo_ref at the same time create one revision each, unless one is refused
      Given a deployment that accepts updates
      When the client updates "repo_ref" twice at the same time
      Then each update that returned 2xx created one revision

    @last
    @record
    Scenario: Every update of repo_ref that returned 2xx created a revision
      When all exchanges of the test run are read
      Then every update of "repo_ref" that returned 2xx in the test run created a revision

    @last
    @record
    Scenario: Every valid update of repo_ref returned 2xx
      When all exchanges of the test run are read
      Then every valid update of "repo_ref" returned 2xx

  @CP-UPDATE-2 @must @section-2 @section-4
  @needs:create.body.source=git_host
  Rule: PATCH with non-null graph_config_path creates one revision, named by latest_revision_id
    "graph_config_path ... On PATCH, a non-null value triggers creation of a new revision."
    Judged with a new value and with the current value, and on each update that only prepares another scenario.

    @needs:alternatives.graph_config_path @shares:changing @creates:0/1
    Scenario: Updating graph_config_path creates one revision, and latest_revision_id names it
      Given a deployment that accepts updates
      When the client updates "graph_config_path"
      Then exactly one revision was created
      And the "latest_revision_id" of the deployment names that revision

    @shares:changing @creates:0/1
    Scenario: Updating graph_config_path to its current value creates one revision
      Given a deployment that accepts updates
      When the client updates "graph_config_path" to its current value
      Then exactly one revision was created
      And the "latest_revision_id" of the deployment names that revision

    @shares:changing @creates:0/1
    Scenario: Updating graph_config_path with repo_ref null creates one revision
      Given a deployment that accepts updates
      When the client updates "graph_config_path" together with "repo_ref" null
      Then exactly one revision was created
      And the "latest_revision_id" of the deployment names that revision

    @last @after:CP-UPDATE-1
    @record
    Scenario: Every update of graph_config_path that returned 2xx created a revision
      When all exchanges of the test run are read
      Then every update of "graph_config_path" that returned 2xx in the test run created a revision

    @last
    @record
    Scenario: Every valid update of graph_config_path returned 2xx
      When all exchanges of the test run are read
      Then every valid update of "graph_config_path" returned 2xx

  @CP-UPDATE-3 @must @section-2 @section-4
  @needs:create.body.source=external_container
  Rule: PATCH with non-null image_uri creates one revision, named by latest_revision_id
    "image_uri ... On PATCH, a non-null value triggers creation of a new revision."
    Judged with a new value and with the current value, and on each update that only prepares another scenario.

    @needs:alternatives.image_uri @shares:changing @creates:0/1
    Scenario: Updating image_uri creates one revision, and latest_revision_id names it
      Given a deployment that accepts updates
      When the client updates "image_uri"
      Then exactly one revision was created
      And the "latest_revision_id" of the deployment names that revision

    @shares:changing @creates:0/1
    Scenario: Updating image_uri to its current value creates one revision
      Given a deployment that accepts updates
      When the client updates "image_uri" to its current value
      Then exactly one revision was created
      And the "latest_revision_id" of the deployment names that revision

    @last
    @record
    Scenario: Every update of image_uri that returned 2xx created a revision
      When all exchanges of the test run are read
      Then every update of "image_uri" that returned 2xx in the test run created a revision

    @last
    @record
    Scenario: Every valid update of image_uri returned 2xx
      When all exchanges of the test run are read
      Then every valid update of "image_uri" returned 2xx

  @CP-UPDATE-4 @must @section-2 @section-4
  @shares:changing
  Rule: PATCH with repo_ref, graph_config_path and image_uri null or absent creates no revision
    "Update a deployment; non-null repo_ref, graph_config_path or image_uri in the source revision config creates a new
    revision."
    Judged with an empty object, with only build_on_push, with only its current name, with each of the three fields
    null, with all of them null, with an empty source_revision_config, and with members that the interface does not name.
    If an update is refused, its scenario is not applicable.

    Scenario Outline: An update with <fields> creates no revision
      Given a deployment that accepts updates
      When the client sends an update with <fields>
      Then no revision was created
      And the update was served, or it is not judged

      Examples:
        | fields                                      |
        | an empty object                             |
        | build_on_push alone                         |
        | only its name                               |
        | repo_ref null                               |
        | graph_config_path null                      |
        | image_uri null                              |
        | the three source fields null                |
        | an empty source_revision_config             |
        | an unknown member                           |
        | an unknown member of source_config          |
        | an unknown member of source_revision_config |

    @last @after:CP-CREATE-2 @after:CP-GET-1
    @record
    Scenario: No deployment in the test run has more revisions than requests that may have created one
      When all exchanges of the test run are read
      Then no deployment has more revisions than requests that may have created one

    @situation @writes
    Scenario Outline: An update without a source field creates no revision of a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then an update without a source field creates no revision

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

  @CP-UPDATE-5 @must @section-2 @last
  @shares:changing
  Rule: PATCH cannot change a deployment's source: GET still shows the original source
    "source ... Cannot be changed after the deployment is created."
    The status of the response to PATCH is not judged. This scenario runs last: a deployment whose source has changed
    may accept no other update.

    @creates:0/1
    Scenario: An update with another source does not change the source
      Given a deployment that accepts updates
      When the client tries to change its source
      And the client retrieves the deployment
      Then the "source" of the deployment is that of the create request
      And each of its revisions shows that source

    @record
    Scenario: No GET of a deployment or a revision shows another source
      When all exchanges of the test run are read
      Then all GETs of a deployment and its revisions show the same source

  @CP-UPDATE-6 @must @section-4 @form
  @writes
  Rule: PATCH of an unknown deployment returns 4xx
    "PATCH /v2/deployments/{deployment_id} ... Update a deployment"
    There is nothing to update, so a success would be false.

    Scenario: An update of an unknown deployment returns 4xx
      When the client sends an empty update to an unknown deployment
      Then the request is refused with 4xx

    @reads @shares:deployment
    Scenario: An update of a slightly different deployment id, or of a revision id, returns 4xx
      Given an existing deployment
      When the client sends an empty update to each id that is almost that of the deployment
      Then each of these requests is refused with 4xx

  @CP-UPDATE-7 @should @section-2
  @shares:changing
  Rule: PATCH cannot set read-only fields of a deployment
    "id ... Read-only. ... created_at ... Read-only. ... updated_at ... Read-only. ... status ... Read-only. ...
    repo_commit_sha ... Read-only commit SHA used."
    The request sends id, latest_revision_id, created_at, updated_at and status, and repo_commit_sha in
    source_revision_config. The status of the response to PATCH is not judged. Values that a revision shows belong to
    CP-INVARIANT-9.

    Scenario: Read-only fields in an update are ignored
      Given a deployment that accepts updates
      When the client sends an update with read-only fields
      Then the read-only fields are unchanged

    @creates:0/1
    Scenario: Read-only fields in an update that creates a revision are ignored
      Given a deployment that accepts updates
      When the client sends an update with read-only fields and a source field
      Then the update is refused with 4xx, or the deployment shows none of the read-only values

  @CP-UPDATE-8 @must @section-2
  @needs:alternatives.tag_ref
  Rule: PATCH accepts a tag with build_on_push false, and never stores a tag with true
    "When a tag is used, source_config.build_on_push must be false (tags are immutable)."
    Judged against the stored values: one of the two is stored and PATCH sends the other. The target may return 4xx,
    or accept the request and show build_on_push false. If PATCH sends both, it replaces both stored values: it must
    accept a tag with false, and a branch with true if the target accepts true at all. Applies to the source git_host.

    @creates:1/2
    Scenario: An update of both repo_ref and build_on_push does not depend on their earlier values
      Given a deployment created for this scenario with build_on_push true
      When the client updates "repo_ref" to the tag and build_on_push to false in one request
      Then the update returns 2xx
      And the request is refused with 4xx, or build_on_push is never true with a tag ref
      When the client updates "repo_ref" to its branch and build_on_push to true in one request
      Then the update returns 2xx
      And the request is refused with 4xx, or build_on_push is never true with a tag ref

    @creates:1/1
    Scenario: A deployment with build_on_push true that is updated to a tag never has both
      Given a deployment created for this scenario with build_on_push true
      When the client updates "repo_ref" to the tag
      Then the request is refused with 4xx, or build_on_push is never true with a tag ref

    @creates:1
    Scenario: A deployment from a tag that is updated to build_on_push true never has both
      Given a deployment created for this scenario from the tag
      When the client sends an update with build_on_push true
      Then the request is refused with 4xx, or build_on_push is never true with a tag ref

    @last
    @record
    Scenario: No GET of a deployment in the test run shows build_on_push true with a tag
      When all exchanges of the test run are read
      Then no deployment has build_on_push true with a tag

  @CP-UPDATE-9 @must @section-2
  @needs:alternatives.repo_ref|alternatives.image_uri @shares:updated
  Rule: The source_revision_config of a deployment always belongs to its latest_revision_id
    "For a Deployment resource the values refer to its latest revision; for a Revision resource they refer to that
    revision."
    Judged on every response that names the new revision, from the first one after the PATCH on.

    Scenario: A deployment that names the new revision shows the values of the update
      Given a deployment that was updated to another source
      When the client retrieves the deployment several times
      Then whenever "latest_revision_id" names the new revision, "source_revision_config" holds the values of the update

    @situation @writes @after:CP-CREATE-3
    Scenario Outline: GET shows the source_revision_config of the latest revision of a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then it shows the source_revision_config of its latest revision

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

  @CP-UPDATE-10 @must @section-1 @section-3
  @needs:alternatives.repo_ref|alternatives.image_uri @shares:updated
  Rule: A revision created by PATCH reaches DEPLOYED within timeouts.poll
    "Poll GET /v2/deployments/{deployment_id}/revisions/{latest_revision_id} until the revision status is DEPLOYED."

    Scenario: The new revision reaches DEPLOYED
      Given a deployment that was updated to another source
      When the client polls its latest revision
      Then the revision reaches DEPLOYED

    @situation @writes @after:CP-UPDATE-1
    Scenario Outline: The latest revision is DEPLOYED at a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then its latest revision is DEPLOYED

      @shares:deployment @shares:updated @shares:history
      Examples: deployments that other scenarios read, too
        | event                  |
        | the source was updated |
        | the history is long    |

      @shares:situations
      Examples: deployments for these events
        | event                                    |
        | the graph_config_path was updated        |
        | the repo_ref was updated to a tag        |
        | the repo_ref was updated to a second tag |
        | an update followed a failed build        |
        | an update was superseded                 |
        | two updates were sent at the same time   |

  @CP-UPDATE-12 @should @section-2
  Rule: PATCH does not change any field that is absent or null in it
    The fields repo_ref, graph_config_path, image_uri and build_on_push are compared if they had a value. If an update
    is refused, its scenario is not applicable.

    @needs:create.body.source=git_host @needs:alternatives.repo_ref|alternatives.image_uri @shares:updated
    Scenario: A new revision keeps the source fields that the update does not name
      Given a deployment that was updated to another source
      When the client retrieves its latest revision
      Then the revision has the values of the first revision in the fields that the update does not name

    @shares:changing
    Scenario Outline: A deployment keeps its source and build_on_push after an update with <fields>
      Given a deployment that accepts updates
      When the client sends an update with <fields>
      Then the deployment has the earlier values of its source and its build_on_push
      And the update was served, or it is not judged

      Examples:
        | fields                          |
        | an empty object                 |
        | repo_ref null                   |
        | graph_config_path null          |
        | image_uri null                  |
        | the three source fields null    |
        | an empty source_revision_config |

    @needs:alternatives.repo_ref @creates:1/1
    Scenario: A deployment keeps build_on_push true after updates that do not name it
      Given a deployment created for this scenario with build_on_push true
      When the client sends an update with an empty object
      Then the deployment still has build_on_push true
      When the client sends an update with an empty source_revision_config
      Then the deployment still has build_on_push true
      When the client sends an update with an empty source_config
      Then the deployment still has build_on_push true
      When the client sends an update with null as its source_config
      Then the deployment still has build_on_push true
      When the client sends an update with only its name
      Then the deployment still has build_on_push true
      When the client updates "repo_ref"
      Then the deployment still has build_on_push true
      And the update was served, or it is not judged

  @CP-UPDATE-11 @should @section-7 @form @after:CP-ERROR-4
  @shares:changing
  Rule: An invalid PATCH returns 422 with an HTTPValidationError and creates no revision
    "Invalid request parameters ... 422, HTTPValidationError (detail array of loc, msg, type)"
    Covers a wrong JSON type of source_config, build_on_push, source_revision_config, repo_ref, graph_config_path or
    image_uri, and a body that is not an object, not valid JSON, or empty. Some values of a wrong type are ones that many
    languages treat as absent (false, an empty array). Another 4xx passes and is noted; 2xx and 5xx fail.

    Scenario Outline: An update with <mistake> returns 422
      Given a deployment that accepts updates
      When the client sends an update with <mistake>
      Then the request is refused with 422 and an HTTPValidationError, or with another 4xx
      And no revision was created

      Examples:
        | mistake                                  |
        | a number as repo_ref or image_uri        |
        | false as repo_ref or image_uri           |
        | an object as repo_ref or image_uri       |
        | a number as graph_config_path            |
        | an array as source_config                |
        | a string as source_revision_config       |
        | an empty array as source_revision_config |
        | an array as build_on_push                |
        | an array in place of the object          |
        | null in place of the object              |
        | no body                                  |
        | a body that is not valid JSON            |

  @CP-UPDATE-13 @should @section-2 @section-4
  @shares:changing
  Rule: A valid PATCH that sets no source field returns 2xx
    "All fields are string or null. ... Update a deployment; non-null repo_ref, graph_config_path or image_uri in the
    source revision config creates a new revision."
    Judged with an empty object, with only build_on_push, with each of the three source fields null, with all of them
    null, and with an empty source_revision_config.

    Scenario Outline: An update with <fields> returns 2xx
      Given a deployment that accepts updates
      When the client sends an update with <fields>
      Then the update returns 2xx

      Examples:
        | fields                          |
        | an empty object                 |
        | build_on_push alone             |
        | repo_ref null                   |
        | graph_config_path null          |
        | image_uri null                  |
        | the three source fields null    |
        | an empty source_revision_config |
