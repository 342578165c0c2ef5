@control-plane
Feature: Retrieving a deployment
  A client retrieves a deployment by its id.

  @CP-GET-1 @must @section-1 @section-2 @section-4
  @shares:deployment
  Rule: GET of a deployment returns its id, its source and the id of its latest revision
    "Retrieve it with GET /v2/deployments/{deployment_id}. ... Known fields: id (deployment id), latest_revision_id,
    source, source_revision_config"

    @reads
    Scenario: A deployment has the id, source and latest_revision_id of its creation
      Given an existing deployment
      When the client retrieves the deployment
      Then the deployment has the "id", "source" and "latest_revision_id" of its creation

    @reads:2 @shares:another
    Scenario: GET returns each of two deployments under its own id
      Given two deployments
      When the client retrieves both deployments
      Then each response is the requested deployment

    @last
    @record
    Scenario: Every valid GET of a deployment returned 2xx
      When all exchanges of the test run are read
      Then every valid request to "get-deployment" returned 2xx

    @last
    @record
    Scenario: No deployment names a revision that it never had
      When all exchanges of the test run are read
      Then no deployment names a revision of another deployment, or one that it never had

    @situation @writes @after:CP-UPDATE-1
    Scenario Outline: Three reads show the latest revision of a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then each of three reads shows its id and the id of its latest revision

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

  @CP-GET-2 @must @section-4 @form
  Rule: GET of an unknown deployment returns 4xx
    "GET /v2/deployments/{deployment_id} ... Retrieve a deployment."
    An id in capital letters, in braces, without dashes or after urn:uuid: may stand for the deployment, or be unknown.

    Scenario: GET of an unknown deployment returns 4xx
      When the client retrieves an unknown deployment
      Then the request is refused with 4xx

    Scenario: GET of the nil UUID returns 4xx
      When the client retrieves the deployment with the id "00000000-0000-0000-0000-000000000000"
      Then the request is refused with 4xx

    @reads @shares:deployment
    Scenario: GET of an id in a different spelling returns that deployment, or 4xx
      Given an existing deployment
      When the client retrieves the deployment by its id in each other spelling
      Then each response is the deployment, or is refused with 4xx

    @reads @shares:deployment
    Scenario: GET of a slightly different deployment id, or of a revision id, returns 4xx
      Given an existing deployment
      When the client retrieves each id that is almost that of the deployment
      Then each of these requests is refused with 4xx

  @CP-GET-4 @should @section-4 @section-7 @form
  Rule: Unknown deployments (GET, PATCH) and revisions (GET) return 404 with a string detail
    "404 ... JSON object with detail string saying that the deployment id was not found"
    The interface defines this response for the list of revisions only.

    @after:CP-GET-2
    Scenario: GET of an unknown deployment returns 404
      When the client retrieves an unknown deployment
      Then the request returns 404 and a string "detail"

    @writes @after:CP-UPDATE-6
    Scenario: PATCH of an unknown deployment returns 404
      When the client sends an empty update to an unknown deployment
      Then the request returns 404 and a string "detail"

    @reads @shares:deployment @after:CP-REV-2
    Scenario: GET of an unknown revision returns 404
      Given an existing deployment
      When the client retrieves an unknown revision of it
      Then the request returns 404 and a string "detail"

  @CP-GET-3 @should @section-4 @section-7 @form
  Rule: GET of a deployment id that is not a UUID returns 422 with an HTTPValidationError
    "Invalid request parameters ... 422, HTTPValidationError (detail array of loc, msg, type)"
    Another 4xx passes and is noted; 2xx and 5xx fail.

    Scenario Outline: The deployment id "<id>" returns 422
      When the client retrieves the deployment with the id "<id>"
      Then the request is refused with 422 and an HTTPValidationError, or with another 4xx

      Examples:
        | id                                    |
        | not-a-uuid                            |
        | 12345                                 |
        | 1-1-1-1-1                             |
        | 00000000-0000-0000-0000-00000000000g  |
        | 00000000-0000-0000-0000-0000000000001 |
