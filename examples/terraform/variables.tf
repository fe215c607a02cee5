variable "flatcar" {
  description = "Flatcar release of the nodes, such as 4593.2.5. A channel such as stable works, too, but moves on between plans."
  type        = string
}

variable "platform" {
  description = "Where the nodes run: aws, azure, gcp, openstack, vsphere ... The plan fails if their user data would not fit."
  type        = string
  default     = "aws"
}

variable "spec" {
  description = "GPU nodes, as a spec file of flatcar-gpu has them: `flatcar-gpu init` prints one, `flatcar-gpu schema` its form."
  type        = any
  default     = {}
}

variable "repository" {
  description = "Registry and path of the driver container's image. Needed unless Flatcar brings the driver."
  type        = string
  default     = null
}

variable "driver_version" {
  description = "Version of the NVIDIA driver, such as 580.126.09."
  type        = string
  default     = null
}

variable "snippets" {
  description = "Butane or Ignition texts of your own, merged over the node's: users, SSH keys, kubelet."
  type        = list(string)
  default     = []
}

variable "user_data_limit" {
  description = "Bytes of Ignition that you allow yourself; the platform's own limit holds anyway."
  type        = number
  default     = 16384
}
