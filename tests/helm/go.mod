module apimesh.test/helm

go 1.26.0

require (
	helm.sh/helm/v3 v3.22.0
	helm.sh/helm/v4 v4.3.1
)

tool (
	helm.sh/helm/v3/cmd/helm
	helm.sh/helm/v4/cmd/helm
)
