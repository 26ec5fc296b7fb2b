"""What surrounds every call: one interceptor a concern, outermost first."""

from dragoman.server.interceptors.access_log import AccessLogInterceptor
from dragoman.server.interceptors.errors import ErrorInterceptor
from dragoman.server.interceptors.metrics import MetricsInterceptor

__all__ = ["AccessLogInterceptor", "ErrorInterceptor", "MetricsInterceptor"]
