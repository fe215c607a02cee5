"""The fields of every Butane version of the flatcar variant, declared once.

Source: coreos/butane at v0.29.0, base/v0_4, base/v0_5 and base/v0_8_exp; Ignition's types of 3.3, 3.4 and
3.7-experimental.
"""

from __future__ import annotations

# One struct a paragraph, its keys in the order in which Butane validates them. Types: `str`, `int`, `bool`; with `?`
# a field that knows unset from zero; a name is another struct (or, in a list, a named string type); [] is a list.
# Marks: `since V` (the first flatcar version that has it), `butane` (no such key in Ignition), `ignition` (none in
# Butane), `omit` (left out of the JSON when zero, as all fields with `?` are when unset), `as T` (the name of a list
# type in messages).
DECLARATION = """
Config
    version                    str    butane
    variant                    str    butane
    ignition                   Ignition
    kernel_arguments           KernelArguments
    passwd                     Passwd
    storage                    Storage
    systemd                    Systemd

Ignition
    config                     IgnitionConfig
    proxy                      Proxy
    security                   Security
    timeouts                   Timeouts
    version                    str    ignition

IgnitionConfig
    merge                      [Resource]
    replace                    Resource

Resource
    compression                str?
    http_headers               [HTTPHeader]    as HTTPHeaders
    source                     str?
    inline                     str?   butane
    local                      str?   butane
    verification               Verification

HTTPHeader
    name                       str
    value                      str?

Verification
    hash                       str?

Proxy
    http_proxy                 str?
    https_proxy                str?
    no_proxy                   [str]

Security
    tls                        TLS

TLS
    certificate_authorities    [Resource]

Timeouts
    http_response_headers      int?
    http_total                 int?

KernelArguments
    should_exist               [KernelArgument]
    should_not_exist           [KernelArgument]

Passwd
    groups                     [PasswdGroup]
    users                      [PasswdUser]

PasswdGroup
    gid                        int?
    name                       str
    password_hash              str?
    should_exist               bool?
    system                     bool?

PasswdUser
    gecos                      str?
    groups                     [Group]
    home_dir                   str?
    name                       str
    no_create_home             bool?
    no_log_init                bool?
    no_user_group              bool?
    password_hash              str?
    primary_group              str?
    should_exist               bool?
    ssh_authorized_keys        [SSHAuthorizedKey]
    ssh_authorized_keys_local  [str]  since 1.1.0  butane
    shell                      str?
    system                     bool?
    uid                        int?

Storage
    directories                [Directory]
    disks                      [Disk]
    files                      [File]
    filesystems                [Filesystem]
    links                      [Link]
    luks                       [Luks]
    raid                       [Raid]
    trees                      [Tree] butane

Directory
    group                      NodeGroup
    overwrite                  bool?
    path                       str
    user                       NodeUser
    mode                       int?

NodeGroup
    id                         int?
    name                       str?

NodeUser
    id                         int?
    name                       str?

Disk
    device                     str
    partitions                 [Partition]
    wipe_table                 bool?

Partition
    guid                       str?
    label                      str?
    number                     int    omit
    resize                     bool?
    should_exist               bool?
    size_mib                   int?
    start_mib                  int?
    type_guid                  str?
    wipe_partition_entry       bool?

File
    group                      NodeGroup
    overwrite                  bool?
    path                       str
    user                       NodeUser
    append                     [Resource]
    contents                   Resource
    mode                       int?

Filesystem
    device                     str
    format                     str?
    label                      str?
    mount_options              [str]
    options                    [str]
    path                       str?
    uuid                       str?
    wipe_filesystem            bool?
    with_mount_unit            bool?  butane

Link
    group                      NodeGroup
    overwrite                  bool?
    path                       str
    user                       NodeUser
    hard                       bool?
    target                     str?

Luks
    cex                        Cex    since 1.2.0-experimental
    clevis                     Clevis
    device                     str?
    discard                    bool?  since 1.1.0
    key_file                   Resource
    label                      str?
    name                       str
    open_options               [OpenOption]  since 1.1.0
    options                    [LuksOption]
    uuid                       str?
    wipe_volume                bool?

Cex
    enabled                    bool?

Clevis
    custom                     ClevisCustom
    tang                       [Tang]
    threshold                  int?
    tpm2                       bool?

ClevisCustom
    config                     str?
    needs_network              bool?
    pin                        str?

Tang
    thumbprint                 str?
    url                        str    omit
    advertisement              str?   since 1.1.0

Raid
    devices                    [Device]
    level                      str?
    name                       str
    options                    [RaidOption]
    spares                     int?

Tree
    group                      NodeGroup  since 1.2.0-experimental
    local                      str
    path                       str?
    user                       NodeUser   since 1.2.0-experimental
    file_mode                  int?       since 1.2.0-experimental
    dir_mode                   int?       since 1.2.0-experimental

Systemd
    units                      [Unit]
    quadlets                   [Quadlet]  since 1.2.0-experimental  butane

Unit
    contents                   str?
    contents_local             str?   since 1.1.0  butane
    dropins                    [Dropin]
    enabled                    bool?
    mask                       bool?
    name                       str

Dropin
    contents                   str?
    contents_local             str?   since 1.1.0  butane
    name                       str

Quadlet
    contents                   str?
    contents_local             str?
    name                       str
    rootful                    bool
    dropins                    [Dropin]
"""

# Ignition's keys stand in the order of Butane's, except in these.
IGNITION_ORDER = {
    "PasswdUser": "ssh_authorized_keys shell should_exist system uid",
    "Tang": "advertisement thumbprint url",
}
