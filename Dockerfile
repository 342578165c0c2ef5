# The suite as an image: docker run agentconform run --target https://...
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /agentconform ./cmd/agentconform

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /agentconform /agentconform
COPY LICENSE NOTICE /
WORKDIR /work
ENTRYPOINT ["/agentconform"]
