@agent-server @security
@shares:agent-server
Feature: Authentication at the agent server
  A custom authentication handler checks every request to the agent server. It refuses a caller with a status and a
  detail that it chooses, or passes the user to the graph.

  A conforming target may refuse with any status that the handler chose, and in any form that contains the detail of
  the handler. agent.rejected_status and agent.rejected_detail of the configuration name them, for requests without
  credentials (missing), with unknown ones (invalid) and with a token that the handler knows and refuses (blocked). An
  empty token or another scheme counts as missing or invalid.

  Background:
    Given a deployed agent server

  @AS-AUTH-1 @must @section-5 @section-7
  @needs:users
  Rule: Without credentials, every agent-server route returns the authentication handler's status
    "When the handler is configured, requests must carry the authorization information of the chosen scheme. ... Status
    and detail chosen by the handler; 401 is the shown case"
    The status is agent.rejected_status. Without that key any 4xx is accepted and noted. A route that returns 404, 405
    or 501 to the user as well does not exist and is not judged. Existing and unknown threads are tried, also after an
    update of the deployment.

    @anonymous
    Scenario Outline: Without credentials the request to <operation> returns the handler's status
      Given a completed run, or an unknown one
      When a caller without credentials tries to <operation>
      Then the caller is refused with the status of the authentication handler

      @writes
      Examples: requests that write
        | operation                                        |
        | create a thread                                  |
        | start a run                                      |

      Examples: requests that read
        | operation                                        |
        | list the threads                                 |
        | list the threads with the other listing endpoint |
        | retrieve a run                                   |
        | join a run                                       |
        | read the state                                   |

      @writes
      Examples: unknown threads, requests that write
        | operation                           |
        | start a run of an unknown thread    |

      Examples: unknown threads, requests that read
        | operation                           |
        | retrieve a run of an unknown thread |
        | join a run of an unknown thread     |
        | read the state of an unknown thread |

    @anonymous
    Scenario Outline: On a connection that has served the user, the request to <operation> without credentials returns the handler's status
      Given a completed run, or an unknown one
      When on a connection that has served the user, a caller without credentials tries to <operation>
      Then the caller is refused with the status of the authentication handler

      Examples:
        | operation      |
        | read the state |
        | retrieve a run |

    @writes
    Scenario Outline: Without credentials, the request to <operation> during a run returns the handler's status
      Given a run in progress on a new thread
      When during the run, a caller without credentials tries to <operation>
      Then the caller is refused with the status of the authentication handler

      Examples:
        | operation                 |
        | read the state            |
        | retrieve a run            |
        | start a run               |
        | start a run with rollback |

    @needs:alternatives.repo_ref|alternatives.image_uri @shares:updated
    Scenario Outline: After an update of the deployment, without credentials, the request to <operation> returns the handler's status
      Given the agent server of a deployment that was updated
      And a thread of the user
      When a caller without credentials tries to <operation>
      Then the caller is refused with the status of the authentication handler

      Examples:
        | operation        |
        | create a thread  |
        | list the threads |
        | start a run      |
        | read the state   |

    @situation @writes
    Scenario Outline: Without credentials, each route of a thread on which <event> returns the handler's status
      Given a thread on which <event>
      When the thread is used again
      Then a caller without credentials is refused by each route

      Examples:
        | event                                               |
        | a run has completed                                 |
        | a run has failed                                    |
        | a run has used a tool                               |
        | five runs with equal messages have completed        |
        | metadata was set                                    |
        | a client has dropped its join                       |
        | a plain run was sent while a join was pending       |
        | invalid runs were refused                           |
        | runs of an unknown assistant were refused           |
        | runs of another user were refused                   |
        | runs without credentials were refused               |
        | runs with an unknown token were refused             |
        | requests of others were refused during a run        |
        | another user has created eleven threads since       |
        | a run was rolled back as soon as it was accepted    |
        | a long run was rolled back                          |
        | a run was rolled back after two seconds             |
        | a run was rolled back while a join was pending      |
        | a run was rolled back after its join was dropped    |
        | a run was rolled back by one with the same input    |
        | a run was rolled back by one that failed            |
        | several runs were rolled back in turn               |

      @shares:updated
      Examples:
        | event                                                |
        | a run has completed since the deployment was updated |

  @AS-AUTH-2 @must @section-5 @section-7 @after:AS-AUTH-1
  @needs:users
  Rule: A wrong token or scheme returns the authentication handler's status on every route
    "The handler receives the request (headers and so on), validates the caller ... Custom handler rejects credentials
    ... Status and detail chosen by the handler; 401 is the shown case"
    Wrong tokens are an unknown token, an empty token and near misses of the first user's token: one more character at
    its end, its last character removed, its last character changed, and upper and lower case exchanged. The token of
    agent.blocked_token, such as that of a blocked account, has a status of its own if the handler chose one. If
    separate_credentials is true, the credentials of the control plane are wrong tokens too. Each is sent on its own,
    in the form that the control plane takes, to addresses that the configuration names. Status and routes are judged
    as in AS-AUTH-1.

    Scenario Outline: With <credentials> the request to <operation> returns the handler's status
      Given a completed run, or an unknown one
      When a caller with <credentials> tries to <operation>
      Then the caller is refused with the status of the authentication handler

      @anonymous @writes
      Examples: requests that write
        | credentials      | operation                                        |
        | an unknown token | create a thread                                  |
        | an unknown token | start a run                                      |
        | an empty token   | create a thread                                  |
        | an empty token   | start a run                                      |
        | another scheme   | create a thread                                  |
        | another scheme   | start a run                                      |

      @anonymous
      Examples: requests that read
        | credentials      | operation                                        |
        | an unknown token | list the threads                                 |
        | an unknown token | list the threads with the other listing endpoint |
        | an unknown token | retrieve a run                                   |
        | an unknown token | join a run                                       |
        | an unknown token | read the state                                   |
        | an empty token   | list the threads                                 |
        | an empty token   | list the threads with the other listing endpoint |
        | an empty token   | retrieve a run                                   |
        | an empty token   | join a run                                       |
        | an empty token   | read the state                                   |
        | another scheme   | list the threads                                 |
        | another scheme   | list the threads with the other listing endpoint |
        | another scheme   | retrieve a run                                   |
        | another scheme   | join a run                                       |
        | another scheme   | read the state                                   |

      @writes
      Examples: near misses of the token, requests that write
        | credentials                             | operation        |
        | a token that has one more character     | create a thread  |
        | a token that has one more character     | start a run      |
        | a token that lacks its last character   | create a thread  |
        | a token that lacks its last character   | start a run      |
        | a token that has another last character | create a thread  |
        | a token that has another last character | start a run      |
        | a token in the wrong case               | create a thread  |
        | a token in the wrong case               | start a run      |

      Examples: near misses of the token, requests that read
        | credentials                             | operation        |
        | a token that has one more character     | list the threads |
        | a token that has one more character     | read the state   |
        | a token that has one more character     | retrieve a run   |
        | a token that has one more character     | join a run       |
        | a token that lacks its last character   | list the threads |
        | a token that lacks its last character   | read the state   |
        | a token that lacks its last character   | retrieve a run   |
        | a token that lacks its last character   | join a run       |
        | a token that has another last character | list the threads |
        | a token that has another last character | read the state   |
        | a token that has another last character | retrieve a run   |
        | a token that has another last character | join a run       |
        | a token in the wrong case               | list the threads |
        | a token in the wrong case               | read the state   |
        | a token in the wrong case               | retrieve a run   |
        | a token in the wrong case               | join a run       |

      @needs:agent.blocked_token @writes
      Examples: a blocked token, requests that write
        | credentials     | operation       |
        | a blocked token | create a thread |
        | a blocked token | start a run     |

      @needs:agent.blocked_token
      Examples: a blocked token, requests that read
        | credentials     | operation                                        |
        | a blocked token | list the threads                                 |
        | a blocked token | list the threads with the other listing endpoint |
        | a blocked token | retrieve a run                                   |
        | a blocked token | join a run                                       |
        | a blocked token | read the state                                   |

      @needs:separate_credentials @needs:credentials.api_key @writes
      Examples: credentials of the control plane, API key, requests that write
        | credentials                           | operation        |
        | the API key of the control plane      | create a thread  |
        | the API key of the control plane      | start a run      |

      @needs:separate_credentials @needs:credentials.api_key
      Examples: credentials of the control plane, API key, requests that read
        | credentials                           | operation        |
        | the API key of the control plane      | list the threads |
        | the API key of the control plane      | read the state   |
        | the API key of the control plane      | retrieve a run   |
        | the API key of the control plane      | join a run       |

      @needs:separate_credentials @needs:credentials.tenant_id @needs:tenant_id_alone=true @writes
      Examples: credentials of the control plane, tenant ID, requests that write
        | credentials                           | operation        |
        | the tenant ID of the control plane    | create a thread  |
        | the tenant ID of the control plane    | start a run      |

      @needs:separate_credentials @needs:credentials.tenant_id @needs:tenant_id_alone=true
      Examples: credentials of the control plane, tenant ID, requests that read
        | credentials                           | operation        |
        | the tenant ID of the control plane    | list the threads |
        | the tenant ID of the control plane    | read the state   |
        | the tenant ID of the control plane    | retrieve a run   |
        | the tenant ID of the control plane    | join a run       |

      @needs:separate_credentials @needs:credentials.bearer @writes
      Examples: credentials of the control plane, bearer token, requests that write
        | credentials                           | operation        |
        | the bearer token of the control plane | create a thread  |
        | the bearer token of the control plane | start a run      |

      @needs:separate_credentials @needs:credentials.bearer
      Examples: credentials of the control plane, bearer token, requests that read
        | credentials                           | operation        |
        | the bearer token of the control plane | list the threads |
        | the bearer token of the control plane | read the state   |
        | the bearer token of the control plane | retrieve a run   |
        | the bearer token of the control plane | join a run       |

    @situation @writes
    Scenario Outline: With an unknown token, each route of a thread on which <event> returns the handler's status
      Given a thread on which <event>
      When the thread is used again
      Then a caller with an unknown token is refused by each route

      Examples:
        | event                                               |
        | a run has completed                                 |
        | a run has failed                                    |
        | a run has used a tool                               |
        | five runs with equal messages have completed        |
        | metadata was set                                    |
        | a client has dropped its join                       |
        | a plain run was sent while a join was pending       |
        | invalid runs were refused                           |
        | runs of an unknown assistant were refused           |
        | runs of another user were refused                   |
        | runs without credentials were refused               |
        | runs with an unknown token were refused             |
        | requests of others were refused during a run        |
        | another user has created eleven threads since       |
        | a run was rolled back as soon as it was accepted    |
        | a long run was rolled back                          |
        | a run was rolled back after two seconds             |
        | a run was rolled back while a join was pending      |
        | a run was rolled back after its join was dropped    |
        | a run was rolled back by one with the same input    |
        | a run was rolled back by one that failed            |
        | several runs were rolled back in turn               |

      @shares:updated
      Examples:
        | event                                                |
        | a run has completed since the deployment was updated |

  @AS-AUTH-3 @must @section-5 @section-7
  @anonymous @needs:agent.rejected_detail @needs:users
  Rule: A refusal by the authentication handler contains the detail that the handler chose
    "It can reject a request by raising an HTTP error, for example status 401 with a detail message for an invalid key."
    Clients look for it as the string detail of a JSON object. Another form passes and is noted.

    Scenario Outline: The refusal of <caller> contains the handler's detail
      Given a completed run, or an unknown one
      When <caller> tries to read the state
      Then the refusal contains the detail

      Examples:
        | caller                         |
        | a caller without credentials   |
        | a caller with an unknown token |

      @needs:agent.blocked_token
      Examples: a blocked token
        | caller                        |
        | a caller with a blocked token |

  @AS-AUTH-4 @must @section-5 @slow
  @needs:users @writes
  Rule: A request without valid credentials creates no thread or run and rolls back no run
    "When the handler is configured, requests must carry the authorization information of the chosen scheme."
    Judged without credentials and with an unknown token. The suite looks in the user's list for a thread that was
    created in spite of the refusal, so this part applies only if the list shows the metadata of threads.

    Scenario Outline: A refused run of <caller> is not created
      Given a completed run on a new thread
      And <caller> was refused a run on it
      When the user's next run on the thread completes
      Then the state holds the messages of the user's runs only

      Examples:
        | caller                         |
        | a caller without credentials   |
        | a caller with an unknown token |

    Scenario Outline: A refused run with rollback of <caller> is not created
      Given a completed run on a new thread
      And <caller> was refused a run with rollback on it
      When the user's next run on the thread completes
      Then the state holds the messages of the user's runs only

      Examples:
        | caller                         |
        | a caller without credentials   |
        | a caller with an unknown token |

    Scenario Outline: A refused run with rollback of <caller> does not affect the run in progress
      Given a run in progress on a new thread
      And <caller> was refused a run with rollback on it
      When the user's next run on the thread completes
      Then the state holds the messages of the user's runs only

      Examples:
        | caller                         |
        | a caller without credentials   |
        | a caller with an unknown token |

    Scenario Outline: A refused thread of <caller> is not created
      Given a list of threads that shows their metadata
      And <caller> was refused a thread in the name of the user
      When the user lists the threads
      Then the list does not hold that thread

      Examples:
        | caller                         |
        | a caller without credentials   |
        | a caller with an unknown token |

  @AS-AUTH-5 @must @section-5
  @needs:users
  Rule: With a valid token, every agent-server route returns 2xx
    "The handler receives the request (headers and so on), validates the caller, and returns an object with at least
    identity and any custom fields."
    Only a refusal of the valid token fails here. Any other error status belongs to the requirement of that operation,
    and blocks the scenario. A token that was accepted before and after is valid in between: this is judged on requests
    for the user's own threads, because 401 may also refuse another user's.

    @writes
    Scenario Outline: With a valid token the request to <operation> returns 2xx
      Given a completed run
      When the user tries to <operation>
      Then the request returns 2xx

      Examples:
        | operation       |
        | create a thread |
        | start a run     |
        | retrieve a run  |
        | join a run      |
        | read the state  |

    Scenario: With a valid token the request to list the threads returns 2xx
      When the user tries to list the threads
      Then the request returns 2xx

    @last
    @record
    Scenario: No user was refused with 401 between two requests that were served
      Given an agent server that responded in the test run
      When all exchanges of the test run are read
      Then no user was refused with 401 between two requests that were served

  @AS-AUTH-6 @must @section-2 @section-5 @after:AS-AUTH-7
  @writes
  Rule: The graph receives the user's identity and custom fields in graph_auth_user
    "After authentication the returned user object is placed in config["configurable"]["graph_auth_user"]; graph nodes
    read custom fields from it."
    The conformance graph reads them from config.configurable.graph_auth_user. The custom fields that users.fields
    names are judged, with their JSON types. A field that is null may be missing: the interface does not distinguish
    the two.

    @needs:users.0.identity
    Scenario: The identity of the user reaches the graph
      When the user starts a run that reports its caller
      Then the run reports the identity of the user

    @needs:users.0.fields
    Scenario: The custom fields of the user reach the graph
      When the user starts a run that reports its caller
      Then the run reports the custom fields of the user

    @needs:users.0.identity
    Scenario: A run that names another user in its config receives its own user, or returns 4xx
      When the user starts a run that reports its caller, and names another user in its config
      Then the run reports the identity of the user

    @needs:users.1.fields
    Scenario: The custom fields of the second user reach the graph
      Given the user is the second configured user
      When the user starts a run that reports its caller
      Then the run reports the custom fields of the user

    @needs:users.0.identity @needs:agent.studio_headers
    Scenario: The run of a studio user on a thread of the user does not receive the user
      When the user starts a run that reports its caller
      And a studio user starts a run that reports its caller on the same thread
      Then the run of the studio user does not report the user

    @situation @needs:users.0.identity @after:AS-AUTH-7
    Scenario Outline: On a thread on which <event>, a further run receives its user
      Given a thread on which <event>
      When the thread is used again
      Then a further run receives the user who started it

      Examples:
        | event                                               |
        | a run has completed                                 |
        | a run has failed                                    |
        | a run has used a tool                               |
        | five runs with equal messages have completed        |
        | metadata was set                                    |
        | a client has dropped its join                       |
        | a plain run was sent while a join was pending       |
        | invalid runs were refused                           |
        | runs of an unknown assistant were refused           |
        | runs of another user were refused                   |
        | runs without credentials were refused               |
        | runs with an unknown token were refused             |
        | requests of others were refused during a run        |
        | another user has created eleven threads since       |
        | a run was rolled back as soon as it was accepted    |
        | a long run was rolled back                          |
        | a run was rolled back after two seconds             |
        | a run was rolled back while a join was pending      |
        | a run was rolled back after its join was dropped    |
        | a run was rolled back by one with the same input    |
        | a run was rolled back by one that failed            |
        | several runs were rolled back in turn               |

      @shares:updated
      Examples:
        | event                                                |
        | a run has completed since the deployment was updated |

    @situation @needs:users.0.identity @after:AS-AUTH-7 @after:AS-STATE-2
    Scenario Outline: On a thread on which <event>, the new run of a rollback receives its user
      Given a thread on which <event>
      When a run is rolled back on it
      Then the new run receives the user who started it

      Examples:
        | event                                               |
        | a run has completed                                 |
        | a run has failed                                    |
        | a run has used a tool                               |
        | five runs with equal messages have completed        |
        | metadata was set                                    |
        | a client has dropped its join                       |
        | a plain run was sent while a join was pending       |
        | invalid runs were refused                           |
        | runs of an unknown assistant were refused           |
        | runs of another user were refused                   |
        | runs without credentials were refused               |
        | runs with an unknown token were refused             |
        | requests of others were refused during a run        |
        | another user has created eleven threads since       |
        | a run was rolled back as soon as it was accepted    |
        | a long run was rolled back                          |
        | a run was rolled back after two seconds             |
        | a run was rolled back while a join was pending      |
        | a run was rolled back after its join was dropped    |
        | a run was rolled back by one with the same input    |
        | a run was rolled back by one that failed            |
        | several runs were rolled back in turn               |

      @shares:updated
      Examples:
        | event                                                |
        | a run has completed since the deployment was updated |

  @AS-AUTH-7 @must @section-5 @slow
  @needs:users.1 @needs:users.0.identity|users.0.fields @needs:users.1.identity|users.1.fields @writes
  Rule: With two users, in turn or at once, each run receives its own caller in graph_auth_user
    "After authentication the returned user object is placed in config["configurable"]["graph_auth_user"]; graph nodes
    read custom fields from it."

    Scenario Outline: The runs of two users, <when> and the <first> user first, report their own caller
      Given the user is the <first> configured user
      When two users start runs that report their caller, <when>
      Then each run reports its own caller

      Examples:
        | first  | when        |
        | first  | in turn     |
        | first  | all at once |
        | second | in turn     |
        | second | all at once |

    @needs:users.2.same_identity
    Scenario Outline: Two users with the same identity start runs <when>, the <first> user first, and each run reports its own caller
      Given the user is the <first> configured user, and the other user has the same identity
      When two users start runs that report their caller, <when>
      Then each run reports its own caller

      Examples:
        | first | when        |
        | first | in turn     |
        | first | all at once |
        | third | in turn     |
        | third | all at once |

  @AS-AUTH-8 @must @section-5
  @needs:users @writes
  Rule: A different spelling of an agent-server path does not bypass authentication
    "When the handler is configured, requests must carry the authorization information of the chosen scheme."
    Each GET of the interface is sent without credentials by paths that some servers route to the same operation, such
    as one with dot segments after a public path. The interface names no such path. A response fails only if it shows
    something of the run.

    Scenario Outline: Without credentials, paths with <spelling> reveal nothing of a run
      Given a completed run
      When a caller without credentials reads the run by paths with <spelling>
      Then no response shows anything of the run

      Examples:
        | spelling                         |
        | a slash at the end               |
        | a doubled slash                  |
        | a doubled slash within           |
        | capital letters                  |
        | a path parameter                 |
        | a path parameter at the end      |
        | a query                          |
        | a file extension                 |
        | percent-encoded letters          |
        | dot segments                     |
        | dot segments after a public path |
        | ids in capital letters           |
        | ids in braces                    |
        | ids without dashes               |
        | ids after urn:uuid:              |
