@control-plane @security
Feature: Authentication at the control plane
  Every operation of the control plane is protected by three schemes: API Key, Tenant ID and Bearer Auth.

  A conforming target may return 401 or 403, with any body.

  @CP-AUTH-1 @must @section-5
  @anonymous @reads:0 @shares:another
  Rule: Without credentials, every control-plane operation returns 401 or 403
    "Send header X-Api-Key with a valid API key: <API_KEY>."
    The body of the response is not judged.

    Scenario Outline: Without credentials the request to <operation> returns 401 or 403
      Given an existing deployment, or an unknown id
      When a client with no credentials tries to <operation>
      Then the request is refused with 401 or 403

      @writes
      Examples: requests that write
        | operation             |
        | create a deployment   |
        | update a deployment   |

      Examples: requests that read
        | operation             |
        | retrieve a deployment |
        | list its revisions    |
        | retrieve a revision   |

    Scenario Outline: On a connection that has served the client, the request to <operation> without credentials returns 401 or 403
      Given an existing deployment, or an unknown id
      When on a connection that has served the client, a client with no credentials tries to <operation>
      Then the request is refused with 401 or 403

      Examples:
        | operation             |
        | retrieve a deployment |
        | list its revisions    |

    @situation @writes
    Scenario Outline: Without credentials no operation returns 2xx at a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then no operation serves a client without credentials

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

  @CP-AUTH-2 @must @section-5
  @reads:0 @shares:another
  Rule: An unknown, empty or blank credential returns 401 or 403 on every control-plane operation
    "Send header X-Api-Key with a valid API key: <API_KEY>."
    Judged with each scheme: API keys always, bearer tokens if credentials.bearer is configured, tenant IDs if
    credentials.tenant_id is configured and tenant_id_alone is true. If separate_credentials is true, the token of a
    user of the agent server is an unknown bearer token. Each credential is sent on its own. A valid API key combined
    with a wrong second credential is not judged. A blank (whitespace) credential consists of spaces only. Near misses
    of a configured credential are unknown ones: one more character at its end, its last character removed, its last
    character changed, and upper and lower case exchanged. A JWT that nobody has signed and Basic credentials in place
    of the bearer token are unknown ones, too.

    Scenario Outline: With an API key that is <key> the request to <operation> returns 401 or 403
      Given an existing deployment, or an unknown id
      When a client with an API key that is <key> tries to <operation>
      Then the request is refused with 401 or 403

      @anonymous @writes
      Examples: requests that write
        | key        | operation             |
        | unknown    | create a deployment   |
        | unknown    | update a deployment   |
        | empty      | create a deployment   |
        | empty      | update a deployment   |
        | whitespace | create a deployment   |
        | whitespace | update a deployment   |

      @anonymous
      Examples: requests that read
        | key        | operation             |
        | unknown    | retrieve a deployment |
        | unknown    | list its revisions    |
        | unknown    | retrieve a revision   |
        | empty      | retrieve a deployment |
        | empty      | list its revisions    |
        | empty      | retrieve a revision   |
        | whitespace | retrieve a deployment |
        | whitespace | list its revisions    |
        | whitespace | retrieve a revision   |

      @needs:credentials.api_key @writes
      Examples: near misses of the configured key, requests that write
        | key                           | operation             |
        | one character too long        | create a deployment   |
        | one character too long        | update a deployment   |
        | one character too short       | create a deployment   |
        | one character too short       | update a deployment   |
        | changed in its last character | create a deployment   |
        | changed in its last character | update a deployment   |
        | in another case               | create a deployment   |
        | in another case               | update a deployment   |

      @needs:credentials.api_key
      Examples: near misses of the configured key, requests that read
        | key                           | operation             |
        | one character too long        | retrieve a deployment |
        | one character too long        | list its revisions    |
        | one character too long        | retrieve a revision   |
        | one character too short       | retrieve a deployment |
        | one character too short       | list its revisions    |
        | one character too short       | retrieve a revision   |
        | changed in its last character | retrieve a deployment |
        | changed in its last character | list its revisions    |
        | changed in its last character | retrieve a revision   |
        | in another case               | retrieve a deployment |
        | in another case               | list its revisions    |
        | in another case               | retrieve a revision   |

    @anonymous
    Scenario Outline: With a <credential> that is <kind> the request to <operation> returns 401 or 403
      Given an existing deployment, or an unknown id
      When a client with a <credential> that is <kind> tries to <operation>
      Then the request is refused with 401 or 403

      @needs:credentials.bearer @writes
      Examples: bearer token, requests that write
        | credential   | kind       | operation             |
        | bearer token | unknown    | create a deployment   |
        | bearer token | unknown    | update a deployment   |
        | bearer token | empty      | create a deployment   |
        | bearer token | empty      | update a deployment   |
        | bearer token | whitespace | create a deployment   |
        | bearer token | whitespace | update a deployment   |

      @needs:credentials.bearer
      Examples: bearer token, requests that read
        | credential   | kind       | operation             |
        | bearer token | unknown    | retrieve a deployment |
        | bearer token | unknown    | list its revisions    |
        | bearer token | unknown    | retrieve a revision   |
        | bearer token | empty      | retrieve a deployment |
        | bearer token | empty      | list its revisions    |
        | bearer token | empty      | retrieve a revision   |
        | bearer token | whitespace | retrieve a deployment |
        | bearer token | whitespace | list its revisions    |
        | bearer token | whitespace | retrieve a revision   |

      @needs:credentials.tenant_id @needs:tenant_id_alone=true @writes
      Examples: tenant ID, requests that write
        | credential   | kind       | operation             |
        | tenant ID    | unknown    | create a deployment   |
        | tenant ID    | unknown    | update a deployment   |
        | tenant ID    | empty      | create a deployment   |
        | tenant ID    | empty      | update a deployment   |
        | tenant ID    | whitespace | create a deployment   |
        | tenant ID    | whitespace | update a deployment   |

      @needs:credentials.tenant_id @needs:tenant_id_alone=true
      Examples: tenant ID, requests that read
        | credential   | kind       | operation             |
        | tenant ID    | unknown    | retrieve a deployment |
        | tenant ID    | unknown    | list its revisions    |
        | tenant ID    | unknown    | retrieve a revision   |
        | tenant ID    | empty      | retrieve a deployment |
        | tenant ID    | empty      | list its revisions    |
        | tenant ID    | empty      | retrieve a revision   |
        | tenant ID    | whitespace | retrieve a deployment |
        | tenant ID    | whitespace | list its revisions    |
        | tenant ID    | whitespace | retrieve a revision   |

    @writes
    Scenario Outline: With a <credential> that is <mistake> every request returns 401 or 403
      Given an existing deployment, or an unknown id
      When a client tries each operation with a <credential> that is <mistake>
      Then each request is refused with 401 or 403

      @needs:credentials.bearer
      Examples: near misses of the configured credential, bearer token
        | credential   | mistake                       |
        | bearer token | one character too long        |
        | bearer token | one character too short       |
        | bearer token | changed in its last character |
        | bearer token | in another case               |

      @needs:credentials.bearer
      Examples: forms of unknown bearer tokens that some servers accept
        | credential   | mistake                       |
        | bearer token | a JWT with a wrong signature  |
        | bearer token | replaced by Basic credentials |

      @needs:credentials.tenant_id @needs:tenant_id_alone=true
      Examples: near misses of the configured credential, tenant ID
        | credential   | mistake                       |
        | tenant ID    | one character too long        |
        | tenant ID    | one character too short       |
        | tenant ID    | changed in its last character |
        | tenant ID    | in another case               |

    @needs:separate_credentials @needs:users.0.token
    Scenario Outline: With the token of a user of the agent server the request to <operation> returns 401 or 403
      Given an existing deployment, or an unknown id
      When a client with the token of a user of the agent server tries to <operation>
      Then the request is refused with 401 or 403

      @writes
      Examples: requests that write
        | operation             |
        | create a deployment   |
        | update a deployment   |

      Examples: requests that read
        | operation             |
        | retrieve a deployment |
        | list its revisions    |
        | retrieve a revision   |

    @situation @writes
    Scenario Outline: With an unknown API key no operation returns 2xx at a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then no operation serves a client with an unknown API key

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

  @CP-AUTH-3 @must @section-5
  Rule: Without valid credentials, create and update create no deployment and no revision
    "Send header X-Api-Key with a valid API key: <API_KEY>."
    Judged without credentials and with an unknown API key. The suite looks by name for a deployment that was created
    in spite of the refusal, so this part applies only if the target can list its deployments, which the interface
    does not require.

    @shares:changing
    Scenario Outline: An update request with <credentials> creates no revision
      Given a deployment that no other scenario changes
      When a client with <credentials> tries to update its source
      Then no revision was created

      Examples:
        | credentials        |
        | no credentials     |
        | an unknown API key |

    @needs:create.body.name @writes
    Scenario Outline: A create request with <credentials> creates no deployment
      Given a target that can list its deployments
      When a client with <credentials> tries to create a deployment with a unique name
      Then no deployment was created

      Examples:
        | credentials        |
        | no credentials     |
        | an unknown API key |

    @situation @writes
    Scenario Outline: An update without credentials creates no revision of a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then an update without credentials creates no revision

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

  @CP-AUTH-4 @must @section-4 @section-5
  @reads @shares:another
  Rule: A configured API Key, Tenant ID or Bearer Auth gives access to every operation
    "Security: any of the three schemes in section 5. ... Declared security schemes for operations: API Key, Tenant ID,
    Bearer Auth."
    Each declared scheme is judged if its credential is configured. The tenant ID is sent together with the API key,
    unless tenant_id_alone is true. The header names of Tenant ID and Bearer Auth are configurable
    (credential_headers).

    Scenario Outline: With the scheme <scheme> the request to <operation> returns 2xx
      Given another existing deployment
      When a client with the scheme <scheme> tries to <operation>
      Then the request returns 2xx

      @needs:credentials.api_key @creates:1
      Examples: API key, creation
        | scheme      | operation             |
        | API Key     | create a deployment   |

      @needs:credentials.api_key
      Examples: API key, requests that read
        | scheme      | operation             |
        | API Key     | retrieve a deployment |
        | API Key     | list its revisions    |
        | API Key     | list its revisions with a filter and a limit |
        | API Key     | retrieve a revision   |

      @needs:credentials.api_key @needs:create.body @writes
      Examples: API key, requests that write
        | scheme      | operation             |
        | API Key     | update a deployment   |

      @needs:credentials.tenant_id @needs:credentials.api_key|tenant_id_alone=true @creates:1
      Examples: tenant ID, creation
        | scheme      | operation             |
        | Tenant ID   | create a deployment   |

      @needs:credentials.tenant_id @needs:credentials.api_key|tenant_id_alone=true
      Examples: tenant ID, requests that read
        | scheme      | operation             |
        | Tenant ID   | retrieve a deployment |
        | Tenant ID   | list its revisions    |
        | Tenant ID   | list its revisions with a filter and a limit |
        | Tenant ID   | retrieve a revision   |

      @needs:credentials.tenant_id @needs:credentials.api_key|tenant_id_alone=true @needs:create.body @writes
      Examples: tenant ID, requests that write
        | scheme      | operation             |
        | Tenant ID   | update a deployment   |

      @needs:credentials.bearer @creates:1
      Examples: bearer token, creation
        | scheme      | operation             |
        | Bearer Auth | create a deployment   |

      @needs:credentials.bearer
      Examples: bearer token, requests that read
        | scheme      | operation             |
        | Bearer Auth | retrieve a deployment |
        | Bearer Auth | list its revisions    |
        | Bearer Auth | list its revisions with a filter and a limit |
        | Bearer Auth | retrieve a revision   |

      @needs:credentials.bearer @needs:create.body @writes
      Examples: bearer token, requests that write
        | scheme      | operation             |
        | Bearer Auth | update a deployment   |

  @CP-AUTH-5 @should @section-5
  @reads @shares:deployment
  Rule: Without valid credentials, existing and unknown deployments return the same status
    A refusal must not reveal whether a deployment exists. The interface implies this, but does not state it.

    Scenario Outline: With <credentials>, GET of an existing and of an unknown deployment has the same status
      Given an existing deployment
      When a client with <credentials> tries to retrieve a deployment
      Then the refusal has the status for an unknown deployment

      Examples:
        | credentials        |
        | no credentials     |
        | an unknown API key |

    @writes
    Scenario Outline: With <credentials>, PATCH of an existing and of an unknown deployment has the same status
      Given an existing deployment
      When a client with <credentials> tries to update a deployment
      Then the refusal has the status for an unknown deployment

      Examples:
        | credentials        |
        | no credentials     |
        | an unknown API key |

  @CP-AUTH-6 @should @section-5
  @needs:other_tenant.api_key|other_tenant.tenant_id|other_tenant.bearer
  Rule: Another tenant gets the status for unknown deployments, and its PATCH creates no revision
    The response must have the status of an unknown deployment, and its body must not contain the revision or the name of
    the deployment. The other tenant sends all of its credentials, only its bearer token, and its API key with the tenant
    ID of the client or an empty one. The interface implies the isolation of tenants, but does not state it. It defines no
    list of deployments. If the target has one, it is judged.

    @reads @shares:deployment
    Scenario Outline: The request of another tenant to <operation> returns the status for an unknown deployment
      Given an existing deployment
      When the other tenant tries to <operation>
      Then the response has the status code for an unknown deployment

      Examples:
        | operation             |
        | retrieve a deployment |
        | list its revisions    |
        | retrieve a revision   |

    @reads @shares:deployment
    Scenario: On a connection that has served the client, the request of another tenant shows nothing
      Given an existing deployment
      When on a connection that has served the client, the other tenant tries to retrieve a deployment
      Then the response has the status code for an unknown deployment

    @needs:other_tenant.bearer @reads @shares:deployment
    Scenario Outline: The request to <operation> with only the bearer token of another tenant shows nothing
      Given an existing deployment
      When the other tenant with only its bearer token tries to <operation>
      Then the response has the status code for an unknown deployment

      Examples:
        | operation             |
        | retrieve a deployment |
        | list its revisions    |
        | retrieve a revision   |

    @needs:other_tenant.api_key @needs:credentials.tenant_id @reads @shares:deployment
    Scenario Outline: The request to <operation> with the key of another tenant and <tenant ID> shows nothing
      Given an existing deployment
      When the other tenant with <tenant ID> tries to <operation>
      Then the response has the status code for an unknown deployment

      Examples:
        | tenant ID                   | operation             |
        | the tenant ID of the client | retrieve a deployment |
        | the tenant ID of the client | list its revisions    |
        | the tenant ID of the client | retrieve a revision   |
        | an empty tenant ID          | retrieve a deployment |
        | an empty tenant ID          | list its revisions    |
        | an empty tenant ID          | retrieve a revision   |

    @reads @shares:deployment
    Scenario: The list of the deployments of another tenant does not show the deployment
      Given an existing deployment
      And a target that lists it
      When the other tenant tries to list the deployments
      Then the response does not show the deployment

    @shares:changing
    Scenario: An update request of another tenant creates no revision
      Given a deployment that no other scenario changes
      When the other tenant tries to update its source
      Then no revision was created
      And the response has the status code for an unknown deployment

    @situation @writes
    Scenario Outline: Another tenant gets the status for unknown deployments from a deployment of which <event>
      Given a deployment of which <event>
      When the deployment is used again
      Then another tenant gets the status for unknown deployments

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

  @CP-AUTH-7 @must @section-5 @after:CP-AUTH-1
  @reads @shares:deployment
  Rule: A different spelling of a control-plane path does not bypass authentication
    "Send header X-Api-Key with a valid API key: <API_KEY>."
    Each GET of the interface is sent without credentials by paths that some servers route to the same operation, such
    as one with dot segments after a public path. The interface names no such path. A response fails only if it shows
    something of the deployment.

    Scenario Outline: Without credentials, paths with <spelling> reveal nothing of a deployment
      Given an existing deployment
      When a client with no credentials reads it by paths with <spelling>
      Then no response shows anything of the deployment

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
        | another version                  |
        | dot segments                     |
        | dot segments after a public path |
        | ids in capital letters           |
        | ids in braces                    |
        | ids without dashes               |
        | ids after urn:uuid:              |

  @CP-AUTH-8 @should @section-5 @after:CP-AUTH-1
  @reads @shares:deployment
  Rule: Headers such as X-Forwarded-User do not replace credentials
    "Send header X-Api-Key with a valid API key: <API_KEY>."
    Each GET of the interface is sent without credentials, with headers that servers behind a proxy trust, and with
    the cookies that the server has set in its responses to valid credentials. Headers that the configuration names
    are not sent.

    Scenario Outline: With <headers>, a client without credentials sees nothing of a deployment
      Given an existing deployment
      When a client with no credentials reads it with <headers>
      Then no response shows anything of the deployment

      Examples:
        | headers                                              |
        | headers that name the user                           |
        | headers that claim a studio user or an administrator |
        | headers that claim a request of this machine         |
        | headers that override the path                       |
        | a header that overrides the method                   |
        | a cookie that the server has set                     |
