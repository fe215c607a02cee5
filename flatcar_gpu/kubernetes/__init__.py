"""What Kubernetes says of a cluster's nodes, and what it is given: manifests and patches."""
