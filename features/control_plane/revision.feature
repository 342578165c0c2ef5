@control-plane
Feature: Retrieving one revision
  A revision is one build-and-deploy of a deployment from a source. A client retrieves it by its id.

  @CP-REV-1 @must @section-2 @section-4
  Rule: GET of a revision returns that revision with every required field, none of them null
    "id string, uuid yes ... created_at string, date-time yes ... updated_at string, date-time yes ... status string
    enum yes ... source string enum yes ... source_revision_config SourceRevisionConfig yes"
    The required fields are id, created_at, updated_at, status, source and source_revision_config.
    CP-CONTRACT-get-revision judges their types and formats.

    @reads @shares:deployment
    Scenario: A revision has every required field
      Given an existing deployment
      When the client retrieves its latest revision
      Then the revision has every required field, and none is null

    @needs:alternatives.repo_ref|alternatives.image_uri @shares:updated
    Scenario: GET returns each of two revisions under its own id
      Given a deployment that was updated to another source
      When the client retrieves both its revisions
      Then each response is the requested revision

    @last
    @record @reads
    Scenario: Every valid GET of a revision returned 2xx
      When all exchanges of the test run are read
      Then every valid request to "get-revision" returned 2xx

    @situation @writes
    Scenario Outline: Each revision is returned under its own id at a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then each of its revisions is returned under its own id

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

  @CP-REV-2 @must @section-4 @form
  @reads @shares:deployment
  Rule: GET of an unknown revision of an existing deployment returns 4xx
    "GET /v2/deployments/{deployment_id}/revisions/{revision_id} ... Retrieve one revision (a Revision, with status)."
    An id in capital letters, in braces, without dashes or after urn:uuid: may stand for the revision, or be unknown.

    Scenario: GET of a revision id in a different spelling returns that revision, or 4xx
      Given an existing deployment
      When the client retrieves its latest revision by its id in each other spelling
      Then each response is the revision, or is refused with 4xx

    Scenario: GET of an unknown revision returns 4xx
      Given an existing deployment
      When the client retrieves an unknown revision of it
      Then the request is refused with 4xx

    Scenario: GET of a slightly different revision id, or of the deployment id, returns 4xx
      Given an existing deployment
      When the client retrieves each id that is almost that of its revision
      Then each of these requests is refused with 4xx

    @situation @writes
    Scenario Outline: GET of an unknown revision returns 4xx at a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then an unknown revision of it is refused with 4xx

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

  @CP-REV-3 @should @section-4 @form
  @shares:deployment
  Rule: GET of a revision under a deployment that it does not belong to returns 4xx
    "GET /v2/deployments/{deployment_id}/revisions/{revision_id} ... Retrieve one revision (a Revision, with status)."
    The address names a revision of that deployment, and there is none.

    @reads:2 @shares:another @after:CP-REV-2
    Scenario: GET of a revision under another deployment returns 4xx
      Given two deployments
      When the client retrieves the revision of one deployment under the other
      Then the request is refused with 4xx

    @reads
    Scenario: GET of a revision under an unknown or slightly different deployment id returns 4xx
      Given an existing deployment
      When the client retrieves its latest revision under each id that is almost that of the deployment
      Then each of these requests is refused with 4xx

  @CP-REV-4 @must @section-2
  @needs:alternatives.repo_ref|alternatives.image_uri @shares:updated
  Rule: A revision's created_at never changes, and its updated_at is never before created_at
    "created_at ... date-time ... Read-only. ... updated_at ... date-time ... Read-only."
    Each read is compared with the first one, which may show the revision while it was still being built. Times that
    differ in precision only are equal.

    Scenario: The created_at of a revision is that of its first read
      Given a deployment that was updated to another source
      When the client retrieves each of its revisions twice
      Then each has the "created_at" of its first read

    Scenario: The updated_at of a revision is not before its created_at
      Given a deployment that was updated to another source
      When the client retrieves each of its revisions twice
      Then no "updated_at" is before "created_at"

    @last
    @record
    Scenario: No read of a revision in the test run shows an updated_at before its created_at
      When all exchanges of the test run are read
      Then no read of a revision shows an updated_at that is before its created_at

    @situation @writes
    Scenario Outline: The created_at of each revision is unchanged at a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then the created_at of each revision is that of its first read

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

  @CP-REV-5 @must @section-2
  @needs:alternatives.repo_ref|alternatives.image_uri @shares:updated
  Rule: PATCH does not change the source_revision_config of earlier revisions
    "For a Deployment resource the values refer to its latest revision; for a Revision resource they refer to that
    revision."

    Scenario: An update does not change the source_revision_config of the first revision
      Given a deployment that was updated to another source
      When the client retrieves its first revision
      Then the "source_revision_config" of the revision is unchanged

    @situation @writes
    Scenario Outline: The first revision keeps its source_revision_config at a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then its first revision shows the source_revision_config of its creation

      @shares:deployment @shares:updated @shares:history
      Examples: deployments that other scenarios read, too
        | event                  |
        | the source was updated |
        | the history is long    |

      @shares:situations
      Examples: deployments for these events
        | event                                           |
        | the graph_config_path was updated               |
        | the repo_ref and graph_config_path were updated |
        | the repo_ref was updated to a tag               |
        | the repo_ref was updated to a second tag        |
        | a later build has failed                        |
        | an update followed a failed build               |
        | an update was just accepted                     |
        | an update was superseded                        |
        | two updates were sent at the same time          |

  @CP-REV-6 @should @section-2
  @needs:alternatives.commits
  Rule: A DEPLOYED git_host revision's repo_commit_sha is the commit id of its repo_ref
    "repo_commit_sha ... Read-only commit SHA used."
    The expected commit id of each ref comes from alternatives.commits.

    @reads @shares:deployment
    Scenario: The revision shows the commit id of its ref
      Given a ref whose commit id is known
      And a DEPLOYED deployment
      When the client retrieves its latest revision
      Then the "repo_commit_sha" of the revision is the commit id of its ref

    @needs:alternatives.repo_ref|alternatives.image_uri @shares:updated
    Scenario: The revision of a second ref shows the commit id of that ref
      Given a second ref whose commit id is known
      And a deployment that was updated to another source
      When the client retrieves its latest revision
      Then the "repo_commit_sha" of the revision is the commit id of its ref

    @situation @writes
    Scenario Outline: Each DEPLOYED revision shows the commit id of its ref at a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then each of its DEPLOYED revisions shows the commit id of its ref

      @shares:deployment @shares:updated @shares:history
      Examples: deployments that other scenarios read, too
        | event                         |
        | the first build has completed |
        | the source was updated        |
        | the history is long           |

      @shares:situations
      Examples: deployments for these events
        | event                                    |
        | the graph_config_path was updated        |
        | the repo_ref was updated to a tag        |
        | the repo_ref was updated to a second tag |
        | an invalid update was refused            |
        | an update followed a failed build        |
        | an update was superseded                 |
        | two updates were sent at the same time   |
