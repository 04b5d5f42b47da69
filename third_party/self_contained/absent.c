// What the archives that programs for other systems are linked with (self_contained.bzl) refer to and Banyan never has
// them call. Each of these names ends the process.
#include <stdio.h>
#include <stdlib.h>

#define ABSENT(name)                                                  \
  __attribute__((noreturn)) void name(void) {                         \
    fputs("banyan: " #name " is not part of this program\n", stderr); \
    abort();                                                          \
  }

// Kerberos in libzmq: connections have CURVE instead.
ABSENT(GSS_C_NT_HOSTBASED_SERVICE)
ABSENT(GSS_C_NT_USER_NAME)
ABSENT(gss_accept_sec_context)
ABSENT(gss_acquire_cred)
ABSENT(gss_delete_sec_context)
ABSENT(gss_display_name)
ABSENT(gss_import_name)
ABSENT(gss_init_sec_context)
ABSENT(gss_release_buffer)
ABSENT(gss_release_cred)
ABSENT(gss_release_name)
ABSENT(gss_unwrap)
ABSENT(gss_wrap)

// libzmq's transport over NORM.
ABSENT(NORM_INSTANCE_INVALID)
ABSENT(NORM_NODE_ANY)
ABSENT(NORM_OBJECT_INVALID)
ABSENT(NORM_SESSION_INVALID)
ABSENT(NormCreateInstance)
ABSENT(NormCreateSession)
ABSENT(NormDestroyInstance)
ABSENT(NormDestroySession)
ABSENT(NormGetDescriptor)
ABSENT(NormGetNextEvent)
ABSENT(NormGetRandomSessionId)
ABSENT(NormIsUnicastAddress)
ABSENT(NormNodeDelete)
ABSENT(NormObjectGetType)
ABSENT(NormObjectGetUserData)
ABSENT(NormObjectSetUserData)
ABSENT(NormSetCongestionControl)
ABSENT(NormSetDefaultSyncPolicy)
ABSENT(NormSetDefaultUnicastNack)
ABSENT(NormSetLoopback)
ABSENT(NormSetMulticastInterface)
ABSENT(NormSetRxPortReuse)
ABSENT(NormSetTTL)
ABSENT(NormStartReceiver)
ABSENT(NormStartSender)
ABSENT(NormStopInstance)
ABSENT(NormStopReceiver)
ABSENT(NormStopSender)
ABSENT(NormStreamFlush)
ABSENT(NormStreamOpen)
ABSENT(NormStreamRead)
ABSENT(NormStreamSeekMsgStart)
ABSENT(NormStreamWrite)

// libzmq's transport over PGM, which is started with the first context all the same.
int pgm_init(void* error) {
  (void)error;
  return 1;
}
int pgm_shutdown(void) { return 1; }
ABSENT(pgm_bind3)
ABSENT(pgm_close)
ABSENT(pgm_connect)
ABSENT(pgm_error_free)
ABSENT(pgm_free)
ABSENT(pgm_freeaddrinfo)
ABSENT(pgm_getaddrinfo)
ABSENT(pgm_getsockopt)
ABSENT(pgm_gsi_create_from_data)
ABSENT(pgm_recvmsgv)
ABSENT(pgm_send)
ABSENT(pgm_setsockopt)
ABSENT(pgm_socket)

// TLS in libmicrohttpd, which is made ready as a program starts all the same: a page has a proxy for that.
int gnutls_global_init(void) { return 0; }
void gnutls_global_deinit(void) {}
ABSENT(gnutls_alpn_set_protocols)
ABSENT(gnutls_bye)
ABSENT(gnutls_certificate_allocate_credentials)
ABSENT(gnutls_certificate_free_credentials)
ABSENT(gnutls_certificate_server_set_request)
ABSENT(gnutls_certificate_set_dh_params)
ABSENT(gnutls_certificate_set_retrieve_function2)
ABSENT(gnutls_certificate_set_retrieve_function3)
ABSENT(gnutls_certificate_set_x509_key_mem)
ABSENT(gnutls_certificate_set_x509_key_mem2)
ABSENT(gnutls_certificate_set_x509_trust_mem)
ABSENT(gnutls_cipher_get)
ABSENT(gnutls_credentials_set)
ABSENT(gnutls_deinit)
ABSENT(gnutls_dh_params_deinit)
ABSENT(gnutls_dh_params_import_pkcs3)
ABSENT(gnutls_dh_params_init)
ABSENT(gnutls_handshake)
ABSENT(gnutls_init)
ABSENT(gnutls_malloc)
ABSENT(gnutls_priority_deinit)
ABSENT(gnutls_priority_init)
ABSENT(gnutls_priority_set)
ABSENT(gnutls_protocol_get_version)
ABSENT(gnutls_psk_allocate_server_credentials)
ABSENT(gnutls_psk_free_server_credentials)
ABSENT(gnutls_psk_set_server_credentials_function)
ABSENT(gnutls_record_check_pending)
ABSENT(gnutls_record_get_direction)
ABSENT(gnutls_record_recv)
ABSENT(gnutls_record_send)
ABSENT(gnutls_session_get_ptr)
ABSENT(gnutls_session_set_ptr)
ABSENT(gnutls_strerror)
ABSENT(gnutls_transport_set_int2)

// What LAPACK calls for wrong arguments. Its own is in Fortran, with a library to print by.
ABSENT(xerbla_)
