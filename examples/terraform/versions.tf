terraform {
  required_version = ">= 1.5"

  required_providers {
    external = {
      source = "hashicorp/external"
      # 2.3.0 left empty texts out of a query and 2.3.1 sent nulls as empty texts; both are fine here.
      version = ">= 2.2.3"
    }
  }
}
